"""The page of `homenode explain` for protocols of pages: page tables, caches, homes, messages."""

from __future__ import annotations

from typing import Any

from homenode.report import explain_nodes, messages, page_steps, walk_page

Data = dict[str, Any]

# Fields of a step that the script reads as they are.
_STEP = ("block", "words", "private", "miss", "fault", "cycles")
_SAID = {
    "hit": "hit, or nothing to do",
    "bus": "acquire or release that does something",
    "miss": "page fault or miss",
}


def render(data: Data, command: str) -> str:
    """The page as HTML text.

    Args:
        data: what ``homenode explain --json`` prints.
        command: the command line that makes the page again; left out if empty.
    """
    nodes = page_steps.nodes(data)
    return explain_nodes.render(
        "explain_pages.html.jinja",
        (data, command),
        nodes,
        panels=[_panel(index, one) for index, one in enumerate(data["protocols"])],
        said=_SAID,
        references=walk_page.references(
            data, page_steps.reference, lambda step: nodes.index(step["processor"]), _mark
        ),
        walks=[_for_script(one, nodes) for one in data["protocols"]],
    )


def _mark(step: Data) -> str:
    if step["miss"] is not None or step["fault"]:
        return "miss"
    return "bus" if page_steps.unmapped(step) or page_steps.released(step) else "hit"


def _panel(index: int, protocol: Data) -> Data:
    """A protocol with its tables and its steps in words."""
    walk = protocol["walk"]
    said = page_steps.sentences(walk) if walk["steps"] else []
    return explain_nodes.panel(index, protocol) | {
        "pages": walk["pages"],
        "sum": page_steps.summary(protocol),
        "steps": [
            {
                "reference": page_steps.reference(step, walk),
                "outcome": page_steps.outcome(step),
                "messages": messages.sent(step, walk, page_steps.about),
                "mappings": page_steps.mappings(step, walk),
                "directory": page_steps.pages_at_home(step, walk),
                "sentence": text,
            }
            for step, text in zip(walk["steps"], said, strict=True)
        ],
    }


def _for_script(protocol: Data, nodes: list[int]) -> Data:
    """The part of a walk that the script shows."""
    walk, table = protocol["walk"], protocol["table"]
    (release,) = (one for one in table["controllers"] if one["name"] == "release")
    return {
        "name": protocol["name"],
        "badges": explain_nodes.badges(table),
        "released": release["states"][0]["name"],
        "blocks": [block["words"] for block in walk["blocks"]],
        "start": _scene(walk["start"], nodes),
        "steps": [
            {
                "access": page_steps.is_access(step),
                **explain_nodes.step(step, _STEP, nodes, _acts(step, protocol)),
                "scene": _scene(step["scene"], nodes),
            }
            for step in walk["steps"]
        ],
    }


def _acts(step: Data, protocol: Data) -> list[Data]:
    walk, table = protocol["walk"], protocol["table"]
    return [
        explain_nodes.act(
            act, page_steps.about(act, step, walk), page_steps.entry(act["entry"]), table
        )
        for act in step["acts"]
    ]


def _scene(scene: Data, nodes: list[int]) -> Data:
    def some(of: list[Any]) -> list[Any]:
        return [of[node] for node in nodes]

    return {
        "pages": [
            {
                "home": page["entry"]["home"],
                "state": page["entry"]["state"],
                "entry": page_steps.entry(page["entry"]).partition(", ")[2],
                "mappings": some(page["mappings"]),
                "releases": some(page["releases"]),
            }
            for page in scene["pages"]
        ],
        "lines": [
            {
                "copies": [copy["values"] for copy in some(line["copies"])],
                "dirty": some(line["dirty"]),
                "memory": line["memory"],
                "latest": line["latest"],
            }
            for line in scene["lines"]
        ],
    }

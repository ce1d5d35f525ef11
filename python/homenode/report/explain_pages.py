"""The page of `homenode explain` for protocols of pages: page tables, caches, homes, messages."""

from __future__ import annotations

from typing import Any

from homenode.report import controllers, messages, page_steps, walk_page
from homenode.report.explain_directory import COUNTED, badge
from homenode.results.palette import PROCESSOR_COLOURS

Data = dict[str, Any]

_SAID = {
    "hit": "hit, or nothing to do",
    "bus": "acquire or release that does something",
    "miss": "page fault or miss",
}
# What has no table.
_NO_TABLE = {"cache", "memory"}


def render(data: Data, command: str) -> str:
    """The page as HTML text.

    Args:
        data: what ``homenode explain --json`` prints.
        command: the command line that makes the page again; left out if empty.
    """
    nodes = page_steps.nodes(data)
    kinds = list(data["protocols"][0]["walk"]["totals"]["messages"])
    return walk_page.render(
        "explain_pages.html.jinja",
        (data, command),
        panels=[_panel(index, one) for index, one in enumerate(data["protocols"])],
        nodes=nodes,
        narrow=False,
        said=_SAID,
        references=_references(data, nodes),
        counted=COUNTED,
        kinds=[(kind, kind.replace("_", " ")) for kind in kinds],
        unseen=page_steps.unseen(data),
        colours=[PROCESSOR_COLOURS[place % len(PROCESSOR_COLOURS)] for place in range(len(nodes))],
        script_data={
            "nodes": nodes,
            "walks": [_for_script(one, nodes) for one in data["protocols"]],
        },
    )


def _references(data: Data, nodes: list[int]) -> list[Data]:
    """The list to jump by: each step, and how each protocol fares with it."""
    walks = [protocol["walk"] for protocol in data["protocols"]]
    return [
        {
            "text": page_steps.reference(step, walks[0]),
            "cache": nodes.index(step["processor"]),
            "number": data["trace"]["numbers"][step["reference"]] if data["trace"] else None,
            "marks": [_mark(walk["steps"][index]) for walk in walks],
        }
        for index, step in enumerate(walks[0]["steps"])
    ]


def _mark(step: Data) -> str:
    if step["miss"] is not None or step["fault"]:
        return "miss"
    return "bus" if page_steps.unmapped(step) or page_steps.released(step) else "hit"


def _panel(index: int, protocol: Data) -> Data:
    """A protocol with its tables and its steps in words."""
    walk, table = protocol["walk"], protocol["table"]
    said = page_steps.sentences(walk) if walk["steps"] else []
    return {
        "index": index,
        "name": protocol["name"],
        "summary": protocol["summary"],
        "source": protocol["source"],
        "sides": [
            {
                "title": controller["title"],
                "states": [{**one, "badge": badge(one)} for one in controller["states"]],
                "senders": controller["senders"],
                "grid": controllers.grid(controller),
            }
            for controller in table["controllers"]
        ],
        "messages": table["messages"],
        "blocks": walk["blocks"],
        "pages": walk["pages"],
        "sum": page_steps.summary(protocol),
        "steps": [
            {
                "reference": page_steps.reference(step, walk),
                "outcome": page_steps.outcome(step),
                "messages": page_steps.sent(step, walk),
                "mappings": page_steps.mappings(step, walk),
                "directory": page_steps.pages_at_home(step, walk),
                "sentence": text,
            }
            for step, text in zip(walk["steps"], said, strict=True)
        ],
    }


def _for_script(protocol: Data, nodes: list[int]) -> Data:
    """What the script shows of a walk."""
    walk, table = protocol["walk"], protocol["table"]
    badges = {
        controller["name"]: {state["name"]: badge(state) for state in controller["states"]}
        for controller in table["controllers"]
    }
    (release,) = (one for one in table["controllers"] if one["name"] == "release")
    return {
        "name": protocol["name"],
        "badges": badges,
        "released": release["states"][0]["name"],
        "blocks": [block["words"] for block in walk["blocks"]],
        "start": _scene(walk["start"], nodes),
        "steps": [
            {
                "access": page_steps.is_access(step),
                "block": step["block"],
                "words": step["words"],
                "private": step["private"],
                "miss": step["miss"],
                "fault": step["fault"],
                "cycles": step["cycles"],
                "processor": nodes.index(step["processor"]),
                "writes": step["kind"] in {"write", "atomic"},
                "acts": [_act(act, step, protocol) for act in step["acts"]],
                "messages": step["messages"],
                "bytes": step["message_bytes"],
                "crossed": messages.crossed(step),
                "scene": _scene(step["scene"], nodes),
            }
            for step in walk["steps"]
        ],
    }


def _act(act: Data, step: Data, protocol: Data) -> Data:
    sent, has_table = act["message"], act["controller"] not in _NO_TABLE
    done = messages.does(act)
    found = {
        "node": act["node"],
        "side": act["controller"],
        "where": page_steps.controller(act),
        "what": (sent["name"] if sent else act["event"])
        + page_steps.about(act, step, protocol["walk"]),
        "change": page_steps.change(act) if has_table else done,
        "does": done,
        "entry": page_steps.entry(act["entry"]),
        "key": controllers.used(act, protocol["table"]) if has_table else "",
    }
    if sent is not None:
        found |= {name: sent[name] for name in ("from", "to", "way", "number")}
    return found


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

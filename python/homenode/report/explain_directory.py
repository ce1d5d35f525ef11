"""The page of `homenode explain` for protocols with a directory: caches, homes and messages."""

from __future__ import annotations

from typing import Any

from homenode.report import directory_steps, explain_nodes, messages, steps, walk_page

Data = dict[str, Any]

# Fields of a step that the script reads as they are.
_STEP = ("block", "words", "private", "miss")
_SAID = {"hit": "hit", "bus": "hit that needs messages", "miss": "miss"}


def render(data: Data, command: str) -> str:
    """The page as HTML text.

    Args:
        data: what ``homenode explain --json`` prints.
        command: the command line that makes the page again; left out if empty.
    """
    nodes = directory_steps.nodes(data)
    return explain_nodes.render(
        "explain_directory.html.jinja",
        (data, command),
        nodes,
        panels=[_panel(index, one) for index, one in enumerate(data["protocols"])],
        said=_SAID,
        references=walk_page.references(
            data, messages.reference, lambda step: nodes.index(step["processor"]), _mark
        ),
        walks=[_for_script(one, nodes) for one in data["protocols"]],
    )


def _mark(step: Data) -> str:
    if step["miss"] is not None:
        return "miss"
    return "bus" if len(step["acts"]) > 1 else "hit"


def _panel(index: int, protocol: Data) -> Data:
    """A protocol with its tables and its steps in words."""
    walk = protocol["walk"]
    said = directory_steps.sentences(walk) if walk["steps"] else []
    return explain_nodes.panel(index, protocol) | {
        "sum": directory_steps.summary(protocol),
        "has_proxy_caches": any("proxy_copies" in scene for scene in walk["start"]),
        "steps": [
            {
                "reference": messages.reference(step, walk),
                "outcome": steps.outcome(step),
                "messages": messages.sent(step, walk, messages.of_block),
                "holders": directory_steps.holders(step, walk),
                "directory": directory_steps.entry(step["scenes"][step["block"]]["entry"]),
                "sentence": text,
            }
            for step, text in zip(walk["steps"], said, strict=True)
        ],
    }


def _for_script(protocol: Data, nodes: list[int]) -> Data:
    """The part of a walk that the script shows."""
    walk, badges = protocol["walk"], explain_nodes.badges(protocol["table"])
    home = badges.pop("home")
    (copies,) = badges.values()
    return {
        "name": protocol["name"],
        "badges": {"copies": copies, "home": home},
        "blocks": [block["words"] for block in walk["blocks"]],
        "start": [_scene(scene, nodes) for scene in walk["start"]],
        "steps": [
            {
                **explain_nodes.step(step, _STEP, nodes, _acts(step, protocol)),
                "scenes": [_scene(scene, nodes) for scene in step["scenes"]],
            }
            for step in walk["steps"]
        ],
    }


def _acts(step: Data, protocol: Data) -> list[Data]:
    walk, table = protocol["walk"], protocol["table"]
    return [
        explain_nodes.act(
            act, messages.of_block(act, step, walk), directory_steps.entry(act["entry"]), table
        )
        for act in step["acts"]
    ]


def _scene(scene: Data, nodes: list[int]) -> Data:
    def some(copies: list[Data]) -> list[list[Any]]:
        return [
            [copy["state"], copy["values"], copy["lost"], copy["open"]]
            for copy in (copies[node] for node in nodes)
        ]

    in_proxies = scene.get("proxy_copies")
    entry = scene["entry"]
    return {
        "copies": some(scene["copies"]),
        "proxies": some(in_proxies) if in_proxies else [],
        "memory": scene["memory"],
        "latest": scene["latest"],
        "home": entry["home"],
        "state": entry["state"],
        "entry": directory_steps.entry(entry).partition(", ")[2],
    }

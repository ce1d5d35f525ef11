"""The page of `homenode explain` for protocols with a directory: caches, homes and messages."""

from __future__ import annotations

from typing import Any

from homenode.report import controllers, messages, steps, walk_page
from homenode.results.palette import PROCESSOR_COLOURS

Data = dict[str, Any]

_SAID = {"hit": "hit", "bus": "hit that needs messages", "miss": "miss"}
COUNTED = (
    ("cold", "cold"),
    ("replacement", "replacement"),
    ("invalidation_true", "true"),
    ("invalidation_false", "false"),
    ("invalidation_passive", "passive"),
    ("open", "not known yet"),
)


def render(data: Data, command: str) -> str:
    """The page as HTML text.

    Args:
        data: what ``homenode explain --json`` prints.
        command: the command line that makes the page again; left out if empty.
    """
    nodes = messages.nodes(data)
    kinds = list(data["protocols"][0]["walk"]["totals"]["messages"])
    return walk_page.render(
        "explain_directory.html.jinja",
        (data, command),
        panels=[_panel(index, one) for index, one in enumerate(data["protocols"])],
        nodes=nodes,
        narrow=False,
        said=_SAID,
        references=_references(data, nodes),
        counted=COUNTED,
        kinds=[(kind, kind.replace("_", " ")) for kind in kinds],
        unseen=messages.unseen(data),
        colours=[PROCESSOR_COLOURS[place % len(PROCESSOR_COLOURS)] for place in range(len(nodes))],
        script_data={
            "nodes": nodes,
            "walks": [_for_script(one, nodes) for one in data["protocols"]],
        },
    )


def _references(data: Data, nodes: list[int]) -> list[Data]:
    """The list to jump by: what is referenced, and how each protocol fares with it."""
    walks = [protocol["walk"] for protocol in data["protocols"]]
    return [
        {
            "text": messages.reference(step, walks[0]),
            "cache": nodes.index(step["processor"]),
            "number": data["trace"]["numbers"][step["reference"]] if data["trace"] else None,
            "marks": [_mark(walk["steps"][index]) for walk in walks],
        }
        for index, step in enumerate(walks[0]["steps"])
    ]


def _mark(step: Data) -> str:
    if step["miss"] is not None:
        return "miss"
    return "bus" if len(step["acts"]) > 1 else "hit"


def _panel(index: int, protocol: Data) -> Data:
    """A protocol with its tables and its steps in words."""
    walk, table = protocol["walk"], protocol["table"]
    said = messages.sentences(walk) if walk["steps"] else []
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
        "sum": messages.summary(protocol),
        "steps": [
            {
                "reference": messages.reference(step, walk),
                "outcome": steps.outcome(step),
                "messages": messages.sent(step, walk),
                "holders": messages.holders(step, walk),
                "directory": messages.entry(step["scenes"][step["block"]]["entry"]),
                "count": messages.crossed(step),
                "sentence": text,
            }
            for step, text in zip(walk["steps"], said, strict=True)
        ],
    }


def badge(state: Data) -> str:
    """The colour of a state: by what it promises; one in which something is under way has none."""
    roles = {"none": "invalid", "readable": "copy", "writable": "only-owner"}
    colour = roles.get(state["role"], "at-home")
    return colour if state["rests"] else f"{colour} under-way"


def _badges(table: Data) -> Data:
    """The colours of states: of copies, which are the first controller's, and of entries."""
    of = {
        controller["name"]: {state["name"]: badge(state) for state in controller["states"]}
        for controller in table["controllers"]
    }
    return {"copies": next(iter(of.values())), "home": of["home"]}


def _for_script(protocol: Data, nodes: list[int]) -> Data:
    """What the script shows of a walk."""
    walk, table = protocol["walk"], protocol["table"]
    return {
        "name": protocol["name"],
        "badges": _badges(table),
        "blocks": [block["words"] for block in walk["blocks"]],
        "start": [_scene(scene, nodes) for scene in walk["start"]],
        "steps": [
            {
                "block": step["block"],
                "words": step["words"],
                "private": step["private"],
                "miss": step["miss"],
                "processor": nodes.index(step["processor"]),
                "writes": step["kind"] in {"write", "atomic"},
                "acts": [_act(act, step, protocol) for act in step["acts"]],
                "messages": step["messages"],
                "bytes": step["message_bytes"],
                "crossed": messages.crossed(step),
                "scenes": [_scene(scene, nodes) for scene in step["scenes"]],
            }
            for step in walk["steps"]
        ],
    }


def _act(act: Data, step: Data, protocol: Data) -> Data:
    sent = act["message"]
    found = {
        "node": act["node"],
        "side": act["controller"],
        "where": messages.controller(act),
        "what": (sent["name"] if sent else act["event"])
        + messages.of_block(act, step, protocol["walk"]),
        "change": messages.change(act),
        "does": messages.does(act),
        "entry": messages.entry(act["entry"]),
        "key": controllers.used(act, protocol["table"]),
    }
    if sent is not None:
        found |= {name: sent[name] for name in ("from", "to", "way", "number")}
    return found


def _scene(scene: Data, nodes: list[int]) -> Data:
    copies = [
        [copy["state"], copy["values"], copy["lost"], copy["open"]]
        for copy in (scene["copies"][node] for node in nodes)
    ]
    entry = scene["entry"]
    return {
        "copies": copies,
        "memory": scene["memory"],
        "latest": scene["latest"],
        "home": entry["home"],
        "state": entry["state"],
        "entry": messages.entry(entry).partition(", ")[2],
    }

"""What the pages of `homenode explain` have in common that show nodes and messages between them."""

from __future__ import annotations

from typing import Any

from homenode.report import controllers, messages, walk_page
from homenode.results.palette import PROCESSOR_COLOURS

Data = dict[str, Any]


def render(template: str, explained: tuple[Data, str], nodes: list[int], **values: Any) -> str:
    """A page as HTML text.

    Args:
        template: the file.
        explained: what ``homenode explain --json`` prints, and the command line that makes the
            page again; left out if empty.
        nodes: the nodes that are shown.
        values: what else the template shows; `walks` is what its script reads.
    """
    data, _ = explained
    kinds = list(data["protocols"][0]["walk"]["totals"]["messages"])
    return walk_page.render(
        template,
        explained,
        nodes=nodes,
        narrow=False,
        counted=walk_page.COUNTED,
        kinds=[(kind, kind.replace("_", " ")) for kind in kinds],
        unseen=messages.unseen(data, nodes),
        colours=[PROCESSOR_COLOURS[place % len(PROCESSOR_COLOURS)] for place in range(len(nodes))],
        script_data={"nodes": nodes, "walks": values.pop("walks")},
        **values,
    )


def panel(index: int, protocol: Data) -> Data:
    """A protocol with its tables."""
    table = protocol["table"]
    return {
        "index": index,
        "name": protocol["name"],
        "summary": protocol["summary"],
        "source": protocol["source"],
        "sides": [
            {
                "title": controller["title"],
                "states": [{**one, "badge": _badge(one)} for one in controller["states"]],
                "senders": controller["senders"],
                "grid": controllers.grid(controller),
            }
            for controller in table["controllers"]
        ],
        "messages": table["messages"],
        "blocks": protocol["walk"]["blocks"],
    }


def _badge(state: Data) -> str:
    """The colour of a state: by what it promises; one in which something is under way has none."""
    roles = {"none": "invalid", "readable": "copy", "writable": "only-owner"}
    colour = roles.get(state["role"], "at-home")
    return colour if state["rests"] else f"{colour} under-way"


def badges(table: Data) -> Data:
    """The colours of each controller's states."""
    return {
        controller["name"]: {state["name"]: _badge(state) for state in controller["states"]}
        for controller in table["controllers"]
    }


def step(found: Data, fields: tuple[str, ...], nodes: list[int], acts: list[Data]) -> Data:
    """The part of a step that the script shows: these fields unchanged, and the messages."""
    return {name: found[name] for name in fields} | {
        "processor": nodes.index(found["processor"]),
        "writes": found["kind"] in {"write", "atomic"},
        "acts": acts,
        "messages": found["messages"],
        "bytes": found["message_bytes"],
        "crossed": messages.crossed(found),
    }


def act(found: Data, about: str, entry: str, table: Data) -> Data:
    """The part of an act that the script shows.

    Args:
        found: the act.
        about: the block or page concerned, if it is not the one referenced.
        entry: the home's entry afterwards.
        table: the tables of the protocol.
    """
    sent, has_table, does = found["message"], messages.has_table(found), messages.does(found)
    shown = {
        "node": found["node"],
        "side": messages.side(found),
        "where": messages.controller(found),
        "what": (sent["name"] if sent else found["event"]) + about,
        "change": messages.change(found) if has_table else does,
        "does": does,
        "entry": entry,
        "key": controllers.used(found, table) if has_table else "",
    }
    if sent is not None:
        shown |= {name: sent[name] for name in ("from", "to", "way", "number")}
    return shown

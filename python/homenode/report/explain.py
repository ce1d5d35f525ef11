"""The page of `homenode explain`: one steps through references and watches caches and bus."""

from __future__ import annotations

from typing import Any

from homenode.report import steps, walk_page
from homenode.results.palette import PROCESSOR_COLOURS

Data = dict[str, Any]

# Up to this number, caches stand beside their table.
_NARROW = 4
# Fields of a step and of its acts that the script reads; the page shows the others itself.
_STEP = ("block", "words", "private", "cycles", "miss")
_ACT = ("block", "event", "transaction", "supplier", "cycles", "sharing")

_SAID = {"hit": "hit", "bus": "hit that needs the bus", "miss": "miss"}
_COUNTED = (*walk_page.COUNTED, ("removal", "removal"))
_SENT = (
    ("fetch", "blocks fetched"),
    ("invalidate", "invalidate"),
    ("write", "write"),
    ("update-block", "update-block"),
)


def render(data: Data, command: str) -> str:
    """The page as HTML text.

    Args:
        data: what ``homenode explain --json`` prints.
        command: the command line that makes the page again; left out if empty.
    """
    unseen = steps.unseen(data["protocols"][0]["walk"])
    shown = [{**one, "walk": steps.seen(one["walk"])} for one in data["protocols"]]
    data = {**data, "protocols": shown}
    panels = [_panel(index, protocol) for index, protocol in enumerate(data["protocols"])]
    return walk_page.render(
        "explain.html.jinja",
        (data, command),
        panels=panels,
        narrow=len(panels[0]["caches"]) <= _NARROW and not data["instruction_cache"],
        said=_SAID,
        references=walk_page.references(data, steps.reference, lambda step: step["cache"], _mark),
        counted=_COUNTED,
        sent=_SENT,
        cycles=data["cycles"].items(),
        unseen=unseen,
        colours=_colours(data),
        script_data=[_for_script(protocol) for protocol in data["protocols"]],
    )


def _colours(data: Data) -> list[str]:
    """A colour for each cache: that of its processor."""
    whose = [name.partition(" ")[0] for name in data["protocols"][0]["walk"]["caches"]]
    numbers = {who: number for number, who in enumerate(dict.fromkeys(whose))}
    return [PROCESSOR_COLOURS[numbers[who] % len(PROCESSOR_COLOURS)] for who in whose]


def _mark(step: Data) -> str:
    if step["miss"] is not None:
        return "miss"
    return "bus" if step["cycles"] else "hit"


def _panel(index: int, protocol: Data) -> Data:
    """A protocol with its table and its steps in words."""
    walk, table = protocol["walk"], protocol["table"]
    rows = [
        {"key": _key(row["state"], row["event"], row["condition"]), "cells": steps.cell(row)}
        for row in table["rows"]
    ]
    said = steps.sentences(walk) if walk["steps"] else []
    names = steps.signals(table)
    return {
        "index": index,
        "name": protocol["name"],
        "summary": protocol["summary"],
        "source": protocol["source"],
        "states": table["states"],
        "conditions": table["conditions"],
        "rows": rows,
        "replies": [
            (_key(reply["signal"], reply["state"]), reply)
            for reply in table["replies"]
            if names[reply["signal"]] == reply["signal"]
        ],
        "blocks": walk["blocks"],
        "caches": walk["caches"],
        "sum": steps.summary(protocol),
        "steps": [
            {
                "reference": steps.reference(step, walk),
                "outcome": steps.outcome(step),
                "transactions": steps.transactions(step, walk),
                "suppliers": steps.suppliers(step, walk),
                "after": step["after"],
                "memory": "" if step["scenes"][step["block"]]["up_to_date"] else "old",
                "cycles": step["cycles"],
                "sentence": text,
            }
            for step, text in zip(walk["steps"], said, strict=True)
        ],
    }


def _key(*names: str) -> str:
    return "|".join(names)


def _for_script(protocol: Data) -> Data:
    """The part of a walk that the script shows, a third of its size."""
    walk = protocol["walk"]
    names = steps.signals(protocol["table"])
    roles = {state["name"]: state["role"] for state in protocol["table"]["states"]}
    return {
        "name": protocol["name"],
        "roles": roles,
        "blocks": [block["words"] for block in walk["blocks"]],
        "start": [_scene(scene) for scene in walk["start"]],
        "steps": [
            {name: step[name] for name in _STEP}
            | {
                "processor": step["cache"],
                "writes": step["kind"] in {"write", "atomic"},
                "acts": [_act(act, (step["cache"], names)) for act in step["acts"]],
                "scenes": [_scene(scene) for scene in step["scenes"]],
            }
            for step in walk["steps"]
        ],
    }


def _act(act: Data, whose: tuple[int, dict[str, str]]) -> Data:
    processor, names = whose
    memory = act["source"] == "memory" or act["transaction"] == "update-block"
    return {name: act[name] for name in _ACT} | {
        "key": _key(act["state"], act["event"], act["condition"]),
        "asks": processor,
        "memory": memory or any(answer["memory"] for answer in act["answers"]),
        "replies": [
            [answer["processor"], _key(names.get(act["signal"] or "", ""), answer["state"])]
            for answer in act["answers"]
        ],
        "changed": [
            answer["processor"]
            for answer in act["answers"]
            if answer["state"] != answer["next"] or answer["word"]
        ],
    }


def _scene(scene: Data) -> Data:
    copies = [
        [copy["state"], copy["values"], copy["lost"], copy["open"]] for copy in scene["copies"]
    ]
    return {"copies": copies, "memory": scene["memory"], "latest": scene["latest"]}

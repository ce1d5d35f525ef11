"""Protocols with a directory in the terminal: their tables, and every message of a walk."""

from __future__ import annotations

from typing import Any

from homenode.cli.output import console, echo, print_table
from homenode.report import controllers, messages, steps

# A column that is narrower has more lines than one can read.
_COLUMN = 25


def print_protocols(data: dict[str, Any]) -> None:
    """Prints everything that was found out about some protocols."""
    for protocol in data["protocols"]:
        print_tables(protocol)
        _print_walk(protocol, data)


def print_tables(protocol: dict[str, Any]) -> None:
    """Prints the tables of a protocol, and its messages."""
    echo(f"{protocol['name']}: {protocol['summary']}\nSource: {protocol['source']}\n")
    for controller in protocol["table"]["controllers"]:
        _print_controller(controller)
    print_table(
        [(name, False) for name in ("message", "meaning", "counted as", "carries the block")],
        [
            [one["name"], one["meaning"], one["kind"], "yes" if one["carries_block"] else ""]
            for one in protocol["table"]["messages"]
        ],
    )


def _print_controller(controller: dict[str, Any]) -> None:
    title = controller["title"]
    for what in ("states", "events", "senders"):
        if controller[what]:
            print_table(
                [(what[:-1], False), ("meaning", False)],
                [[row["name"], row["meaning"]] for row in controller[what]],
                title if what == "states" else None,
            )
    grid = controllers.grid(controller)
    wide = max(1, (console().width - _COLUMN) // _COLUMN)
    for first in range(0, len(grid.events), wide):
        shown = slice(first, first + wide)
        print_table(
            [("state", False), *((event["name"], False) for event in grid.events[shown])],
            [
                [state, *("\n".join(map(str, lines)) for lines in cells[shown])]
                for state, cells in grid.rows
            ],
            f"{title}: what it does in a state when something comes",
            lines=True,
        )
    echo("What never happens, and why:")
    for name, reason in grid.reasons.items():
        echo(f"  ({name}) {reason}")
    echo()


def _print_walk(protocol: dict[str, Any], data: dict[str, Any]) -> None:
    walk = protocol["walk"]
    print_table(
        [
            ("step", True),
            ("what comes", False),
            ("where", False),
            ("state", False),
            ("what is done", False),
            ("directory", False),
            ("messages", True),
        ],
        [row for step in enumerate(walk["steps"], 1) for row in _rows(step, walk, data)],
        steps.title(data, protocol),
    )
    echo(
        f"Homes: {data['home']}. Only messages between different nodes are counted; "
        f"{steps.places(walk)}."
    )
    echo(messages.summary(protocol))
    echo()


def _rows(
    numbered: tuple[int, dict[str, Any]], walk: dict[str, Any], data: dict[str, Any]
) -> list[list[str]]:
    """A row for the reference, and one for everything that a controller does about it."""
    number, step = numbered
    part = data["trace"]
    place = f" (number {part['numbers'][step['reference']]:,} of the trace)" if part else ""
    home = step["scenes"][step["block"]]["entry"]["home"]
    what = f"{messages.reference(step, walk)}{place}: {steps.outcome(step)}"
    rows = [[str(number), what, "", "", messages.holders(step, walk), f"home N{home}", ""]]
    for act in step["acts"]:
        sent = act["message"]
        crosses = sent is not None and sent["number"] is not None
        rows.append(
            [
                "",
                f"  {messages.message(act)}{messages.of_block(act, step, walk)}",
                messages.controller(act),
                messages.change(act),
                messages.does(act),
                messages.entry(act["entry"]),
                f"{sent['number']:,}" if crosses else "",
            ]
        )
    return rows

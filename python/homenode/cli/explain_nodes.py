"""Protocols with messages between nodes in the terminal: their tables, and rows of a walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.output import echo
from homenode.cli.tables import page_width, print_table
from homenode.report import controllers, messages, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    Data = dict[str, Any]
    # Makes the rows of a numbered step of a walk for the table of all steps.
    Rows = Callable[[tuple[int, Data], Data, Data], list[list[str]]]

# Cells of a narrower column would have too many lines to read.
_COLUMN = 25


def print_protocols(data: Data, at_home: str, rows: Rows, summary: Callable[[Data], str]) -> None:
    """Prints tables and walks of some protocols.

    Args:
        data: what ``homenode explain --json`` prints.
        at_home: the heading of the column with what the home keeps.
        rows: the rows of a step with its number.
        summary: the totals of a protocol's walk.
    """
    for protocol in data["protocols"]:
        _print_tables(protocol)
        _print_walk(protocol, data, at_home, rows)
        echo(summary(protocol))
        echo()


def _print_tables(protocol: Data) -> None:
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


def _print_controller(controller: Data) -> None:
    title = controller["title"]
    for what in ("states", "events", "senders"):
        if controller[what]:
            print_table(
                [(what[:-1], False), ("meaning", False)],
                [[row["name"], row["meaning"]] for row in controller[what]],
                title if what == "states" else None,
            )
    grid = controllers.grid(controller)
    wide = max(1, (page_width() - _COLUMN) // _COLUMN)
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


def _print_walk(protocol: Data, data: Data, at_home: str, rows: Rows) -> None:
    walk = protocol["walk"]
    print_table(
        [
            ("step", True),
            ("what comes", False),
            ("where", False),
            ("state", False),
            ("what is done", False),
            (at_home, False),
            ("messages", True),
        ],
        [row for step in enumerate(walk["steps"], 1) for row in rows(step, walk, data)],
        steps.title(data, protocol),
    )
    echo(
        f"Homes: {data['home']}. Only messages between different nodes are counted; "
        f"{steps.places(walk)}."
    )


def place(step: Data, data: Data) -> str:
    """Where the reference of a step is in its trace."""
    part = data["trace"]
    return f" (number {part['numbers'][step['reference']]:,} of the trace)" if part else ""


def row(act: Data, about: str, entry: str) -> list[str]:
    """A row for something that a controller does.

    Args:
        act: what it does.
        about: the block or page concerned, if it is not the one referenced.
        entry: the home's entry afterwards.
    """
    return [
        "",
        f"  {messages.message(act)}{about}",
        messages.controller(act),
        messages.change(act),
        messages.does(act),
        entry,
        messages.number(act),
    ]

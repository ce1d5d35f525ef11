"""Protocols of pages in the terminal: their tables, and everything that happens in a walk."""

from __future__ import annotations

from typing import Any

from homenode.cli.explain_directory import print_tables
from homenode.cli.output import echo, print_table
from homenode.report import messages, page_steps, steps


def print_protocols(data: dict[str, Any]) -> None:
    """Prints everything that was found out about some protocols."""
    for protocol in data["protocols"]:
        print_tables(protocol)
        _print_walk(protocol, data)


def _print_walk(protocol: dict[str, Any], data: dict[str, Any]) -> None:
    walk = protocol["walk"]
    print_table(
        [
            ("step", True),
            ("what comes", False),
            ("where", False),
            ("state", False),
            ("what is done", False),
            ("page at home", False),
            ("messages", True),
        ],
        [row for step in enumerate(walk["steps"], 1) for row in _rows(step, walk, data)],
        steps.title(data, protocol),
    )
    echo(
        f"Homes: {data['home']}. Only messages between different nodes are counted; "
        f"{steps.places(walk)}."
    )
    echo(page_steps.summary(protocol))
    echo()


def _rows(
    numbered: tuple[int, dict[str, Any]], walk: dict[str, Any], data: dict[str, Any]
) -> list[list[str]]:
    """A row for the step, and one for everything that is done about it."""
    number, step = numbered
    part = data["trace"]
    place = f" (number {part['numbers'][step['reference']]:,} of the trace)" if part else ""
    cycles = f", {steps.counted(step['cycles'], 'cycle')}" if step["cycles"] else ""
    what = f"{page_steps.reference(step, walk)}{place}: {page_steps.outcome(step)}{cycles}"
    at_home = page_steps.pages_at_home(step, walk)
    rows = [[str(number), what, "", "", page_steps.mappings(step, walk), at_home, ""]]
    for act in step["acts"]:
        sent = act["message"]
        crosses = sent is not None and sent["number"] is not None
        rows.append(
            [
                "",
                f"  {page_steps.message(act)}{page_steps.about(act, step, walk)}",
                page_steps.controller(act),
                page_steps.change(act),
                messages.does(act),
                page_steps.entry(act["entry"]),
                f"{sent['number']:,}" if crosses else "",
            ]
        )
    return rows

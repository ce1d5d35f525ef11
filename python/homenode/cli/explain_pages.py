"""Protocols of pages in the terminal: their tables, and everything that happens in a walk."""

from __future__ import annotations

from typing import Any

from homenode.cli import explain_nodes
from homenode.report import page_steps, steps


def print_protocols(data: dict[str, Any]) -> None:
    """Prints tables and walks of some protocols."""
    explain_nodes.print_protocols(data, "page at home", _rows, page_steps.summary)


def _rows(
    numbered: tuple[int, dict[str, Any]], walk: dict[str, Any], data: dict[str, Any]
) -> list[list[str]]:
    """A row for the step, and one for each action that it causes."""
    number, step = numbered
    place = explain_nodes.place(step, data)
    cycles = f", {steps.counted(step['cycles'], 'cycle')}" if step["cycles"] else ""
    what = f"{page_steps.reference(step, walk)}{place}: {page_steps.outcome(step)}{cycles}"
    at_home = page_steps.pages_at_home(step, walk)
    return [
        [str(number), what, "", "", page_steps.mappings(step, walk), at_home, ""],
        *(
            explain_nodes.row(
                act, page_steps.about(act, step, walk), page_steps.entry(act["entry"])
            )
            for act in step["acts"]
        ),
    ]

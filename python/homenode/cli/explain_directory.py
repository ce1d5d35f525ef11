"""Protocols with a directory in the terminal: their tables, and every message of a walk."""

from __future__ import annotations

from typing import Any

from homenode.cli import explain_nodes
from homenode.report import directory_steps, messages, steps


def print_protocols(data: dict[str, Any]) -> None:
    """Prints tables and walks of some protocols."""
    explain_nodes.print_protocols(data, "directory", _rows, directory_steps.summary)


def _rows(
    numbered: tuple[int, dict[str, Any]], walk: dict[str, Any], data: dict[str, Any]
) -> list[list[str]]:
    """A row for the reference, and one for each action of a controller."""
    number, step = numbered
    home = step["scenes"][step["block"]]["entry"]["home"]
    place = explain_nodes.place(step, data)
    waited = f", {step['cycles']:,} cycles" if step.get("cycles") else ""
    what = f"{messages.reference(step, walk)}{place}: {steps.outcome(step)}{waited}"
    return [
        [str(number), what, "", "", directory_steps.holders(step, walk), f"home N{home}", ""],
        *(
            explain_nodes.row(
                act, messages.of_block(act, step, walk), directory_steps.entry(act["entry"])
            )
            for act in step["acts"]
        ),
    ]

"""The table of the bounds over interleavings, for machines without a clock."""

from collections.abc import Iterable, Mapping
from typing import Any

import homenode
from homenode.cli.output import echo
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.options.checked import part_of
from homenode.options.specs import format_size, plain_number, unique
from homenode.results.chance import WIDE

_POINT = ("machine", "policy", "block_size")
REFERENCES_MAX = 1_000_000
"""Traces with more references are bracketed only on request: it takes several passes."""


def find(
    result: Iterable[Mapping[str, Any]], simulated: tuple[str, dict[str, Any]], asked: bool | None
) -> list[dict[str, Any]]:
    """The bounds of each row of a result; empty if they are not wanted.

    Args:
        result: rows of a simulation with prices.
        simulated: the trace, and the options of the simulation.
        asked: whether the bounds are wanted; None decides by the length of the trace.
    """
    path, chosen = simulated
    trace = homenode.Trace.open(path)
    wanted = trace.references <= REFERENCES_MAX if asked is None else asked
    if not wanted or trace.threads < 2 or chosen.get("realign_window"):
        return []
    ours = ("machines", "policies", "block_sizes", "realign_window")
    options: Any = {name: value for name, value in chosen.items() if name not in ours}
    matrix = [unique(row[column] for row in result) for column in _POINT]
    with Progress("taking other turns") as progress:
        return homenode.interleavings(trace, *matrix, progress=progress, **options)


def show_or_note(
    points: Iterable[Mapping[str, Any]], simulated: tuple[str, dict[str, Any]], also: str = ""
) -> None:
    """Prints the bounds for points with prices; for a long trace, a note on how to get them.

    Args:
        points: machine, policy and block size of each.
        simulated: as for `find`; other options than those of a simulation are left out.
        also: what else the order changes, for the note.
    """
    path, chosen = simulated
    points = list(points)
    if not points:
        return
    trace = homenode.Trace.open(path)
    if trace.references <= REFERENCES_MAX:
        show(find(points, (path, part_of("simulate", chosen)), asked=True), also)
    elif trace.threads > 1:
        first = points[0]
        echo(
            f"note: prices without a clock{also} depend on the turns of the recording: homenode "
            f"simulate {path} --machine {first['machine']} --policy {first['policy']} "
            f"--block-size {format_size(first['block_size'])} --interleavings gives their "
            "bounds",
            err=True,
        )


def beside(rows: list[dict[str, Any]], brackets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a result, each with the least and the largest MCPR as ``interleavings``."""
    ends = {tuple(row[c] for c in _POINT): (row["min"], row["max"]) for row in brackets}
    names = ("least", "largest")
    return [
        {**row, "interleavings": dict(zip(names, ends[tuple(row[c] for c in _POINT)], strict=True))}
        for row in rows
    ]


def show(brackets: list[dict[str, Any]], also: str = "") -> None:
    """Prints the bounds, if there is one block size, and a note on wide ones."""
    from homenode.engines.interleavings import QUANTA

    if not brackets:
        return
    if len({row["block_size"] for row in brackets}) == 1:
        columns = [*texts("machine"), *numbers("block"), *texts("policy")]
        columns += numbers("least", "largest", "spread")
        cells = [
            [row["machine"], format_size(row["block_size"]), row["policy"], *_ends(row)]
            for row in brackets
        ]
        turns = f"{QUANTA[0]} to {QUANTA[-1]:,} references"
        print_table(columns, cells, f"MCPR when threads take turns of {turns}")
    wide = [row for row in brackets if (row["spread"] or 0) > WIDE]
    if wide:
        worst = max(wide, key=lambda row: row["spread"])
        echo(
            f"note: prices without a clock{also} depend on the order of the trace: "
            f"{worst['policy']} on {worst['machine']}, {format_size(worst['block_size'])} blocks, "
            f"costs {plain_number(worst['min'])} to "
            f"{plain_number(worst['max'])}; homenode sharing simulates cache "
            "lines with a clock",
            err=True,
        )


def _ends(row: dict[str, Any]) -> list[str]:
    if row["mean"] is None:
        return ["∞", "∞", "-"]
    return [plain_number(row["min"]), plain_number(row["max"]), f"{row['spread']:.1%}"]

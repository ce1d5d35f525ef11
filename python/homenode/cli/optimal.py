"""`homenode optimal`: the best placement in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode.cli.command import examples
from homenode.cli.options import given_options, study_options
from homenode.cli.output import echo, print_notes
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.cli.totals import WHERE, mcpr, print_references, references, total, unit_of
from homenode.options.specs import format_size, plain_number, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.engines.optimal import OptimalResult

# Rows of a table at most: pieces of a curve, bins of a distribution.
_SHOWN = 20
_MOVES = ("moves R", "moves G")


@click.command(
    epilog=examples(
        "homenode optimal t.hnt --machine ace --block-size 4K --certify",
        "homenode optimal t.hnt --machine numa,dsm+ --block-size 64-8192 --no-replication",
        "homenode optimal t.hnt --machine prices:r=15,R=59 --curve R=31..400 --json",
        "homenode optimal t.hnt --machine ace --block-size 4K --word-bytes 4",
        "homenode optimal t.hnt --machine numa --block-size 4K --placement where.csv",
    )
)
@click.argument("trace", metavar="T.hnt")
@study_options("optimal", without=("policies",))
@click.option("--no-replication", is_flag=True, help="One copy of each block at all times.")
@result_options()
def optimal(trace: str, outputs: Outputs, no_replication: bool, **options: Any) -> int:
    """Find the cheapest placement, with knowledge of the whole trace.

    Prints its mean cost per reference (MCPR), the references it serves locally, remotely and from
    global memory, its moves, and how they spread over the blocks. No policy can do better on the
    same trace and machine.
    """
    outputs.check(trace, others=(options["placement"],))
    chosen = given_options(options)
    machines = chosen.pop("machines", ["numa"])
    sizes = chosen.pop("block_sizes", [4096])
    with Progress("finding the optimum") as progress:
        result = homenode.optimal(
            trace, machines, sizes, replication=not no_replication, progress=progress, **chosen
        )

    def text() -> None:
        print_references(result.rows, result.provenance)
        _print(result)

    is_quiet = options["placement"] == "-" and not (outputs.as_json or outputs.files)
    if not is_quiet:
        outputs.show(result.document, result.columns, text)
    print_notes(result.provenance)
    return 0 if not options["certify"] or result.certified else 1


def _print(result: OptimalResult) -> None:
    _print_points(result.rows)
    _print_moves(result.rows)
    for row in result.rows:
        if row["curve"] is not None:
            _print_curve(row)
    for row in result.rows:
        if row["certificate"] is not None:
            _print_certificate(row)


def _print_points(rows: Sequence[dict[str, Any]]) -> None:
    units = unique(unit_of(row) for row in rows)
    # Where units differ, nanoseconds say so, and other costs are in local references.
    mixed = len(units) > 1
    unit = "cost" if mixed else units[0]
    cells = [
        [
            row["machine"],
            format_size(row["block_size"]),
            mcpr(row),
            f"{total(row)} ns" if mixed and unit_of(row) == "ns" else total(row),
            *references(row["counts"]),
            *(plain_number(row["counts"].get(f"{name}_moves", 0)) for name in ("remote", "global")),
        ]
        for row in rows
    ]
    words = ("block", "MCPR", f"total {unit}", *WHERE, *_MOVES)
    first = rows[0]
    title = f"{first['trace']}, {first['policy']}, {first['processors']} processors"
    print_table([*texts("machine"), *numbers(*words)], cells, title)


def _print_moves(rows: Sequence[dict[str, Any]]) -> None:
    longest = max((len(row["moves_per_block"]["histogram"]) for row in rows), default=0)
    bins = [(0, 0)] + [(1 << i, (2 << i) - 1) for i in range(longest - 1)]
    cells = []
    for row in rows:
        moves = row["moves_per_block"]
        each = [plain_number(b["blocks"]) for b in moves["histogram"]]
        cells.append(
            [
                row["machine"],
                format_size(row["block_size"]),
                plain_number(moves["blocks"]),
                "-" if moves["mean"] is None else f"{moves['mean']:.2f}",
                plain_number(moves["max"]),
                *each,
                *("" for _ in bins[len(each) :]),
            ]
        )
    shown = [f"{low}" if low == high else f"{low}-{high}" for low, high in bins]
    columns = [*texts("machine"), *numbers("block", "blocks", "mean", "most", *shown)]
    print_table(columns, cells, "Moves per block, and blocks by their number of moves")


def _print_curve(row: dict[str, Any]) -> None:
    curve = row["curve"]
    price, pieces = curve["price"], curve["pieces"]
    name = f"{row['machine']}, {format_size(row['block_size'])} blocks"
    if not pieces:
        echo(f"{name}: no placement is finite")
        return
    cells = [
        [
            piece["exact_from"],
            piece["exact_to"],
            *(mcpr({**row, **piece}, end) for end in ("mcpr_from", "mcpr_to")),
            *map(plain_number, (piece["slope"], *piece["counts"].values())),
        ]
        for piece in pieces[:_SHOWN]
    ]
    columns = numbers(price, "to", "MCPR", "to", "slope", *WHERE, *_MOVES)
    print_table(columns, cells, f"Optimal cost against {price}: {name}")
    if len(pieces) > _SHOWN:
        echo(f"{len(pieces) - _SHOWN} more pieces; --json prints all")


def _print_certificate(row: dict[str, Any]) -> None:
    found = row["certificate"]
    name = f"{row['machine']}, {format_size(row['block_size'])} blocks"
    if found["failed"] == 0:
        echo(
            f"{name}: certified, {plain_number(found['blocks'])} blocks, "
            f"{plain_number(found['references'])} references replayed"
        )
        return
    echo(f"{name}: {plain_number(found['failed'])} blocks FAILED the replay")
    for fault in found["faults"]:
        echo(f"  {fault}")

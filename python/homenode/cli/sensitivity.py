"""`homenode sensitivity`: how much results depend on the order of the threads."""

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
from homenode.options.specs import format_size, plain_number

if TYPE_CHECKING:
    from homenode.engines.sensitivity import SensitivityResult

_ENDS = ("least", "largest", "spread")
_SWAPS_SHOWN = 5


@click.command(
    epilog=examples(
        "homenode sensitivity t.hnt --reinterleave 8",
        "homenode sensitivity t.hnt --reinterleave 8 --machine numa --block-size 4K",
        "homenode record --repeat 5 --quantum 50,200 -o t.hnt -- ./prog",
        "homenode sensitivity t.q*.hnt --machine cc+,numa --block-size 64,4K --json",
    )
)
@click.argument("traces", nargs=-1, required=True, metavar="T.hnt...")
@study_options("sensitivity")
@result_options()
def sensitivity(traces: tuple[str, ...], outputs: Outputs, **options: Any) -> None:
    """Measure how much results depend on the order in which threads ran.

    Simulates several orders of one program: recordings with other turns (homenode record --repeat),
    or orders made from a trace (--reinterleave). Prints mean, least, largest and spread of the
    cycles on machines of today and of the cost under each policy on machines with prices, and
    whether the ranking of the policies is the same in all. --policy, --block-size, --filter and
    --force are for machines with prices.
    """
    from homenode.engines.sensitivity import MACHINES

    outputs.check(*traces)
    chosen = given_options(options)
    machines = chosen.pop("machines", MACHINES)
    policies = chosen.pop("policies", None)
    sizes = chosen.pop("block_sizes", None)
    with Progress("comparing orders") as progress:
        result = homenode.sensitivity(
            traces, machines, policies, sizes, progress=progress, **chosen
        )

    def text() -> None:
        _print(result)
        print_notes(result.provenance)

    outputs.show(result.document, result.columns, text)


def _print(result: SensitivityResult) -> None:
    for row in result.cycles:
        cycles = [plain_number(round(row[name])) for name in ("mean", "min", "max")]
        low, high = (row["false_sharing_share"][end] for end in ("low", "high"))
        cells = [row["protocol"], *cycles, f"{row['spread']:.1%}", f"{low:.1%} to {high:.1%}"]
        names = ("mean cycles", *_ENDS, "waits by false sharing")
        print_table([*texts("protocol"), *numbers(*names)], [cells], _title(row, row["orders"]))
    columns = [*texts("policy"), *numbers("mean MCPR", *_ENDS)]
    for point in result.rankings:
        rows = [
            row
            for row in result.rows
            if (row["machine"], row["block_size"]) == (point["machine"], point["block_size"])
        ]
        count = rows[0]["orders"]
        print_table(columns, [_cells(row) for row in rows], _title(point, count))
        for line in _verdict(point, count):
            echo(line)
        echo()


def _title(point: dict[str, Any], orders: int) -> str:
    return f"{point['machine']}, {format_size(point['block_size'])} blocks, {orders} orders"


def _cells(row: dict[str, Any]) -> list[str]:
    if row["mean"] is None:
        return [row["policy"], "∞", "-", "-", "-"]
    costs = (plain_number(row[name]) for name in ("mean", "min", "max"))
    return [row["policy"], *costs, f"{row['spread']:.1%}"]


def _verdict(point: dict[str, Any], count: int) -> list[str]:
    """Whether the ranking is the same in all orders, and the pairs that are not."""
    if len(point["policies"]) < 2:
        return []
    if not point["swaps"]:
        return [f"ranking: the same in all {count} orders"]
    lines = [
        f"ranking: differs; Kendall's tau with that of the means is {point['tau_mean']:.2f} "
        f"on the average, {point['tau_min']:.2f} at least"
    ]
    for swap in point["swaps"][:_SWAPS_SHOWN]:
        better, worse = swap["policies"]
        apart = "" if swap["apart"] is None else f"; the means are {swap['apart']:.2%} apart"
        orders = f"{swap['orders']} of {count} orders"
        lines.append(f"  {better} before {worse}, but not in {orders}{apart}")
    if len(point["swaps"]) > _SWAPS_SHOWN:
        lines.append(f"  and {len(point['swaps']) - _SWAPS_SHOWN} more pairs (--json has all)")
    return lines

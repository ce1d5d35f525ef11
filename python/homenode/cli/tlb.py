"""`homenode tlb`: how often translation lookaside buffers miss at each page size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode.cli.command import examples
from homenode.cli.options import given_options, study_options
from homenode.cli.output import echo, note_samples
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.errors import ConfigError
from homenode.options.specs import format_size, percent, plain_number, plural, unique

if TYPE_CHECKING:
    from homenode.engines.tlb import TlbResult


@click.command(
    epilog=examples(
        "homenode tlb t.hnt",
        "homenode tlb t.hnt --tlb ace,r4000 --page-size 512-8192 --json",
        "homenode tlb t.hnt --tlb entries=64,ways=4,paired=no,cost=2.5 --page-size 4K",
        "homenode tlb t.hnt --tlb ace --page-size 4K --word-bytes 4",
        "homenode tlb t.hnt --tlb ace,r4000 --page-size 128,4K --mcpr --machine numa",
    )
)
@click.argument("trace", metavar="T.hnt")
@study_options("tlb")
@click.option(
    "--mcpr",
    is_flag=True,
    help="Add what misses cost to the mean cost per reference of a machine and policy.",
)
@result_options()
def tlb(trace: str, outputs: Outputs, **options: Any) -> None:
    """Count how often translation lookaside buffers miss at each page size.

    Every processor has a TLB of its own; the least recently used entry of a set is replaced. Prints
    misses per reference, or with --mcpr the mean cost per reference with misses added.
    """
    outputs.check(trace)
    note_samples(trace)
    result = _run(trace, options)
    outputs.show(result.document, result.columns, lambda: _print(result))


def _run(trace: str, options: dict[str, Any]) -> TlbResult:
    chosen = given_options(options)
    tlbs = chosen.pop("tlbs", None) or [row["name"] for row in homenode.table("tlbs")]
    page_sizes = chosen.pop("page_sizes", None) or [128 << i for i in range(7)]
    machine, policy = chosen.pop("machine", None), chosen.pop("policy", None)
    if chosen.pop("mcpr", False):
        chosen |= {"machine": machine or "numa", "policy": policy or "optimal"}
    elif machine is not None or policy is not None:
        raise ConfigError("--machine and --policy say which MCPR to correct; give --mcpr as well")
    with Progress("counting misses") as progress:
        return homenode.tlb(trace, tlbs, page_sizes, progress=progress, **chosen)


def _print(result: TlbResult) -> None:
    """One column a page size, one line a TLB."""
    first = result.rows[0]
    tlbs = unique(row["tlb"] for row in result)
    sizes = unique(row["page_size"] for row in result)
    found = {(row["tlb"], row["page_size"]): row for row in result}
    corrected = "corrected_mcpr" in first
    cells = []
    if corrected:
        cells.append(["without misses", *(_cost(found[tlbs[0], size], "mcpr") for size in sizes)])
    show = _corrected if corrected else _rate
    cells += [[name, *(show(found[name, size]) for size in sizes)] for name in tlbs]
    where = f"{first['processors']} {plural(first['processors'], 'processor')}"
    what = "TLB misses per reference"
    if corrected:
        what = f"MCPR of {first['policy']} on {first['machine']} with TLB misses"
    title = f"{what}, {where}: {first['trace']}"
    print_table([*texts("TLB"), *numbers(*map(format_size, sizes))], cells, title)
    if corrected and any(row["miss_cost"] is None for row in result):
        echo("-: what a miss costs is not known; say it, as in 68040:cost=2.5", err=True)


def _rate(row: dict[str, Any]) -> str:
    return percent(row["miss_rate"], ".3g")


def _corrected(row: dict[str, Any]) -> str:
    return "-" if row["miss_cost"] is None else _cost(row, "corrected_mcpr")


def _cost(row: dict[str, Any], name: str) -> str:
    return plain_number(row[name]) if row["references"] else "-"

"""`homenode simulate`: a trace under machines, policies and block sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode.cli import engine_tables, interleavings_table
from homenode.cli.coherence_table import print_columns
from homenode.cli.command import examples
from homenode.cli.options import given_options, simulate_options
from homenode.cli.output import echo, note_synchronisation, print_notes
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.realign_table import print_report, print_sizes
from homenode.cli.tables import numbers, page_width, print_table, texts
from homenode.cli.totals import WHERE, mcpr, print_references, references, total, unit_of
from homenode.options.specs import format_size, plain_number, plural, unique

if TYPE_CHECKING:
    from collections.abc import Callable

    from homenode.results.result import Result

# Least width of a column of the table of block sizes: a number of up to six places and its margins.
_COLUMN = 8
_MOVES = ("remote_moves", "global_moves")


@click.command(
    epilog=examples(
        "homenode simulate t.hnt --machine numa --policy optimal,ace --block-size 4K",
        "homenode simulate t.hnt --machine cc+,dsm+ --block-size 64-8192 -o out.csv -o out.json",
        "homenode simulate t.hnt --machine prices:r=15,R=59 --policy delay:n=50,limit=2,optimal"
        " --block-size 64 --json",
        "homenode simulate t.hnt --machine markatos --policy upt,inv,inv.del --block-size 1K",
        "homenode simulate t.hnt --machine markatos --block-size 64-64K --realign",
        "homenode simulate t.hnt --machine ace,numa --block-size 4K --word-bytes 4",
        "homenode simulate t.hnt --machine bus-smp --protocol mesi,amsd,pscr --cache-size 64K-2M"
        " --associativity 2 --block-size 64",
        "homenode simulate t.hnt --machine dash-mesh --home round-robin,first-touch,best-static",
    )
)
@click.argument("trace", metavar="T.hnt")
@simulate_options
@click.option(
    "--interleavings/--no-interleavings",
    default=None,
    help="Give the bounds of costs if threads take turns of 1 to 1,000 references, with prices. "
    "Default: for traces of up to a million references.",
)
@result_options()
def simulate(
    trace: str,
    interleavings: bool | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Replay a trace under machines, block sizes, and policies or coherence protocols.

    Prints the mean cost per reference (MCPR), in units of a local reference, of every combination,
    and the total cost, by which two versions of a program are compared. The policy optimal has the
    least cost that any policy could have with knowledge of the future. The default machine is
    spr-2s, the pages of two sockets of today; the default block size is the machine's own.

    Machines with caches (bus-smp, spr-2s-lines) have coherence protocols instead of policies. The
    table has misses by cause, transactions by purpose, and the global system power, the sum of the
    processors' utilisations. There, synchronisation counts unless it is left out.

    Machines with a directory (dash-mesh) have protocols, and a policy for the home of each page.
    The table has the parts of the processors' time, the share and latency of fills from the node's
    own memory, messages, and the homes that serve most fills with their data structures.

    On both there is a processor for each thread of the trace. homenode run has 8 by default: to
    replay the trace of such a run on the same machine, give --processors 8.
    """
    from homenode.engines.table import engine_for, engines_with, refuse_interleavings

    outputs.check(trace)
    brackets: list[dict[str, Any]] = []
    chosen = given_options(options)
    if window := chosen.pop("realign_window", None):
        chosen["realign"] = window
    engine = engine_for(chosen.get("machines"), chosen)
    if interleavings:
        refuse_interleavings(chosen.get("machines"), chosen)
    tables = outputs.is_text_wanted
    priced = engine in engines_with("policies")
    if priced:
        note_synchronisation(trace, left_out=options["sync"] != "include")
    # At several numbers of nodes the homes that serve most are not comparable.
    result = run(trace, chosen, uses=tables and "scaling" not in chosen)
    if priced and (tables or interleavings):
        brackets = interleavings_table.find(result, (trace, chosen), interleavings)

    def document() -> Any:
        # The tables have the bounds of short traces, JSON only if they are asked for.
        asked = interleavings and brackets
        return interleavings_table.beside(result.rows, brackets) if asked else result.rows

    def text() -> None:
        engine_tables.print_result(engine, result)
        interleavings_table.show(brackets)
        print_notes(result.provenance)
        _note_infinite(result.rows)

    outputs.show(document, result.columns, text)


def _note_infinite(rows: list[dict[str, Any]]) -> None:
    """Says why costs are infinite, if any are."""
    for machine in unique(row["machine"] for row in rows if row.get("total_cost", 0) is None):
        echo(
            f"note: ∞ is for policies under which processors use memory that is another's, which "
            f"those of {machine} cannot reach",
            err=True,
        )


def run(trace: str, options: dict[str, Any], *, uses: bool = False) -> Result:
    """Simulates with the options of the command line, showing progress."""
    with Progress("simulating") as progress:
        return homenode.simulate(trace, uses=uses, progress=progress, **options)


def print_result(result: Result) -> None:
    """Prints one table a trace and machine, and what re-alignment did."""
    print_references(result.rows, result.provenance)
    for trace, machine in unique((row["trace"], row["machine"]) for row in result):
        rows = [r for r in result if r["trace"] == trace and r["machine"] == machine]
        sizes = unique(row["block_size"] for row in rows)
        if len(sizes) == 1:
            _print_one_size(trace, machine, rows)
        else:
            _print_sizes(trace, machine, rows, sizes)
    if len(result.realignments) > 1:
        print_sizes(result.realignments)
    for report in [*result.realignments.values()] if len(result.realignments) == 1 else []:
        print_report(report)


def _print_one_size(trace: str, machine: str, rows: list[dict[str, Any]]) -> None:
    size = format_size(rows[0]["block_size"])
    title = f"{trace} on {machine}, {_shape(rows)}, {size} blocks"
    if "latency" in rows[0]:
        print_columns(rows, title)
        return
    best = next((r["total_cost"] for r in rows if r["policy"] == "optimal"), None)
    cells = [
        [
            row["policy"],
            mcpr(row),
            total(row),
            _ratio(row["total_cost"], best),
            *references(row["counts"]),
            plain_number(sum(row["counts"].get(name, 0) for name in _MOVES)),
        ]
        for row in rows
    ]
    headings = ("MCPR", f"total {unit_of(rows[0])}", "of optimal", *WHERE, "moves")
    print_table([*texts("policy"), *numbers(*headings)], cells, title)


def _print_sizes(trace: str, machine: str, rows: list[dict[str, Any]], sizes: list[int]) -> None:
    title = f"{trace} on {machine}, {_shape(rows)}"
    _print_grid(rows, sizes, ("MCPR", mcpr), title)
    _print_grid(rows, sizes, (f"total {unit_of(rows[0])}", total), None)


def _print_grid(
    rows: list[dict[str, Any]],
    sizes: list[int],
    what: tuple[str, Callable[[dict[str, Any]], str]],
    title: str | None,
) -> None:
    """Prints one number of each policy and block size."""
    name, number = what
    found = {(row["policy"], row["block_size"]): number(row) for row in rows}
    column = max([_COLUMN, *(len(cell) + 2 for cell in found.values())])
    policies = unique(row["policy"] for row in rows)
    fitting = max(1, (page_width() - max(map(len, policies)) - 2) // column)
    for start in range(0, len(sizes), fitting):
        shown = sizes[start : start + fitting]
        print_table(
            [*texts(name), *numbers(*map(format_size, shown))],
            [[policy, *(found[policy, size] for size in shown)] for policy in policies],
            title,
        )


def _shape(rows: list[dict[str, Any]]) -> str:
    count = rows[0]["processors"]
    aligned = ", re-aligned" if "realignment" in rows[0] else ""
    return f"{count} {plural(count, 'processor')}{aligned}"


def _ratio(cost: float | None, best: float | None) -> str:
    if not best:
        return "-"
    return "∞" if cost is None else f"{cost / best:.2f}x"

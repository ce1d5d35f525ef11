"""`homenode advise`: which objects to lay out differently, and the gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode.cli import interleavings_table
from homenode.cli.command import WholeNumber, examples
from homenode.cli.options import given_options, study_options
from homenode.cli.output import echo, note_synchronisation, print_notes
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.cli.totals import print_references
from homenode.options.specs import format_size, percent, plain_number
from homenode.results.chance import speed_up_range, time_varies
from homenode.results.waits import layouts_gain_at_most

if TYPE_CHECKING:
    from homenode.engines.advise import AdviceResult


@click.command(
    epilog=examples(
        "homenode advise t.hnt",
        "homenode advise t.hnt --machine markatos --policy inv --block-size 1K",
        "homenode advise t.hnt --machine numa --block-size 4K -o better.hnt -o advice.csv",
        "homenode advise t.hnt --machine spr-2s-lines,genoa-2s-lines --top 3 --json",
    )
)
@click.argument("trace", metavar="T.hnt")
@study_options("advise")
@click.option(
    "--top",
    type=WholeNumber(min=1),
    metavar="N",
    help="Show at most this number of pieces of advice, those that gain most. Default: all.",
)
@result_options(
    {"hnt": "the trace with all advice followed, for one machine, policy and block size"}
)
def advise(
    trace: str,
    top: int | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Suggest objects to lay out differently, place or replicate, and simulate the gain.

    Layouts are separate-lock, align, pad, split and group (by thread); under policies that keep
    blocks at a home there are place and replicate. Every layout is tried by simulating the trace
    under it. By default the advice is for the cache lines of a two-socket machine, in cycles;
    --policy is then a coherence protocol, and a layout must gain a fortieth of the time to be
    advised. On machines with prices it must gain a hundredth of the cost, and the first machine
    determines the defaults of --policy and --block-size: inv for page-coherence machines, migrate
    for machines without remote reference, else the optimum.
    """
    from homenode.engines.advise import MACHINE

    outputs.check(trace)
    note_synchronisation(trace, left_out=options["sync"] == "exclude")
    chosen = given_options(options)
    with Progress("trying layouts") as progress:
        result = homenode.advise(
            trace,
            chosen.pop("machines", MACHINE),
            chosen.pop("policies", None),
            chosen.pop("block_sizes", None),
            out=outputs.own,
            progress=progress,
            **chosen,
        )
    shown = result if top is None else result.top(top)

    def text() -> None:
        _print(shown)
        priced = [point for point in result.points if point["lines"] is None]
        interleavings_table.show_or_note(priced, (trace, chosen), ", and what advice saves,")
        print_notes(result.provenance)

    outputs.show(shown.document, shown.columns, text)
    if outputs.own is not None and not outputs.as_json:
        echo(f"{outputs.own}: written", err=True)


def _print(result: AdviceResult) -> None:
    from homenode.cli.sharing import print_waits
    from homenode.engines.lines import headline

    if any(point["lines"] is None for point in result.points):
        print_references([result.facts], result.provenance)
    gains = numbers("saves alone", "on top", "memory")
    columns = [*numbers("#"), *texts("advice", "object"), *gains]
    for point in result.points:
        rows = result.at(point)
        if point["lines"] is not None:
            found = point["lines"]
            head = headline(found["before"], point["machine"], result.facts["trace"])
            print_waits(head, found["findings"], found["objects"], found["before"])
        title = (
            f"{result.facts['trace']} on {point['machine']}, {point['policy']}, "
            f"{format_size(point['block_size'])} blocks, {result.facts['processors']} processors"
        )
        if rows:
            print_table(columns, [_cells(row) for row in rows], title)
            for row in rows:
                echo(f"{row['rank']}. {row['sentence']}\n   {row['hint']}")
        else:
            least = "a hundredth of the cost"
            if point["lines"]:
                bound = layouts_gain_at_most(point["lines"]["before"])
                least = f"a fortieth of the time{bound or time_varies(point)}"
            echo(f"{title}: no layout of an object gains {least}")
        echo(_outcome(point))


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        str(row["rank"]),
        row["kind"],
        row["object"],
        percent(row["saved_alone_share"]),
        percent(row["saved_share"]),
        f"{plain_number(row['extra_bytes'])} B",
    ]


def _outcome(point: dict[str, Any]) -> str:
    before, after = point["before"], point["after"]
    gone = point["false_sharing_gone"]
    if point["speed_up"] is not None:
        return (
            f"{plain_number(before['total_cost'])} cycles before, "
            f"{plain_number(after['total_cost'])} after all: {point['speed_up']:.2f} times as fast"
            f"{speed_up_range(point)} for {plain_number(point['extra_bytes'])} bytes"
        )
    unit = "ns" if "total_ns" in before else "local references"
    old, new = (side.get("total_ns", side["total_cost"]) for side in (before, after))
    text = (
        f"MCPR {_mean(before)} before, {_mean(after)} after all; total {plain_number(old)} {unit} "
        f"before, {plain_number(new)} after: {percent(point['saved_share'])} "
        f"of the cost saved for {plain_number(point['extra_bytes'])} bytes"
    )
    if gone is not None:
        text += f"; {percent(gone)} of the references to falsely shared blocks gone"
    return text


def _mean(side: dict[str, Any]) -> str:
    return "-" if side["mcpr"] is None else plain_number(side["mcpr"])

"""`homenode sharing`: what false sharing costs, and who shares what."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode.cli import interleavings_table
from homenode.cli.command import examples
from homenode.cli.options import given_options, study_options
from homenode.cli.output import command_line, echo, note_synchronisation, print_notes
from homenode.cli.outputs import Outputs, result_options
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts
from homenode.cli.totals import mcpr
from homenode.files import write_text
from homenode.options.specs import format_size, percent, plain_number, plural, unique
from homenode.results.waits import CAUSES, others

if TYPE_CHECKING:
    from collections.abc import Iterator

    from homenode.engines.sharing import SharingResult

# Least share of the time waited for an object to be shown.
_SHOWN = 0.005
# Where compilers keep their headers, and names in namespace std, also where they stay mangled. A
# function's name may begin with the type that it returns.
_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/local/include/")
_STANDARD = re.compile(r"(?:[\w:<>*& ,]+ )?(?:std|__gnu_cxx)::|_ZN?K?S[tabsiod]|_ZN?K?9__gnu_cxx")
_MISSES = ("false_sharing", "inflicted", "true_sharing", "cold")
_MISS_HEADINGS = numbers("false", "inflicted", "true", "cold")


@click.command(
    epilog=examples(
        "homenode sharing t.hnt",
        "homenode sharing t.hnt --machine cc,numa --block-size 32-8192 -o sharing.html",
        "homenode sharing before.hnt --compare after.hnt --machine cc --block-size 64",
        "homenode sharing t.hnt --machine cc --block-size 64 --word-bytes 4",
        "homenode sharing t.hnt --detail 64 --top 5 --block-size 64,4K --json",
    )
)
@click.argument("trace", metavar="T.hnt")
@study_options("sharing", without=("policies",))
@click.option(
    "--compare",
    metavar="AFTER.hnt",
    help="The same program after tuning: what it saves (exit code 1 if nothing anywhere).",
)
@click.option("--html", metavar="FILE", help="The same as -o FILE for a page.")
@result_options({"html": "pictures and tables as a page"})
def sharing(
    trace: str,
    compare: str | None,
    html: str | None,
    outputs: Outputs,
    **options: Any,
) -> int:
    """Show where processors wait for shared lines, what false sharing costs, and who shares what.

    On machines of today (spr-2s-lines) the threads are replayed in cycles, and the processors'
    waits are split by cause and by object; they do not depend on the turns of the recording. On
    machines with prices (cc, numa) each block size is analysed: the cost of the best placement is
    split into overhead and data transfer, as in chapter 7 of Bolosky's thesis. The cost of false
    sharing is given by a lower and an upper bound. Then come the objects, blocks and source lines
    that suffer or cause it. --block-size, --detail, --filter and --force are for machines with
    prices.
    """
    outputs.check(*filter(None, (trace, compare)), others=(html,))
    pages = [page for page in (outputs.own, html) if page is not None]
    note_synchronisation(trace, left_out=options["sync"] == "exclude")
    before = _find(trace, options, "looking for sharing")
    after = None if compare is None else _find(compare, options, "looking at the tuned program")
    savings = None if after is None else before.against(after)
    for page in pages:
        _write_html(page, before, after)

    def document() -> dict[str, Any]:
        found = before.to_dict()
        if after is not None:
            found |= {"compared": after.to_dict(), "savings": savings}
        return found

    def text() -> None:
        _print(before, after, savings)
        points = [{**row, "policy": "optimal"} for row in before]
        interleavings_table.show_or_note(
            points, (trace, given_options(options)), ", and who shares what,"
        )
        print_notes(before.provenance, *(waited.provenance for waited in before.lines))
        for page in pages:
            echo(f"{page}: written", err=True)

    outputs.show(document, before.columns, text)
    worthless = savings is not None and not any((row["saved"] or 0) > 0 for row in savings)
    return 1 if worthless else 0


def _find(trace: str, options: dict[str, Any], title: str) -> SharingResult:
    from homenode.engines.sharing import MACHINES

    chosen = given_options(options)
    machines = chosen.pop("machines", MACHINES)
    block_sizes = chosen.pop("block_sizes", None)
    with Progress(title) as progress:
        return homenode.sharing(trace, machines, block_sizes, progress=progress, **chosen)


def _write_html(path: str, before: SharingResult, after: SharingResult | None) -> None:
    from homenode.report.sharing import render

    write_text(path, render(before, after, command=command_line()))


def _print(
    before: SharingResult, after: SharingResult | None, savings: list[dict[str, Any]] | None
) -> None:
    for waited in before.lines:
        print_waits(waited.headline, waited.findings, waited.rows, waited.time)
    if not before.rows:
        return
    for machine in unique(row["machine"] for row in before):
        _print_costs([row for row in before if row["machine"] == machine])
    _print_shares(before)
    if after is not None and savings is not None:
        _print_savings(after, savings)
    if before.detail is not None:
        _print_detail(before.detail)


def print_waits(
    headline: str,
    findings: list[dict[str, Any]],
    objects: list[dict[str, Any]],
    time: dict[str, Any],
) -> None:
    """Prints where time goes, findings that only a change of the program helps, and objects."""
    echo(headline)
    for finding in findings:
        echo(f"Finding: {finding['sentence']}")
    shown = [row for row in objects if (row["share"] or 0) >= _SHOWN]
    rest = others(time, shown)
    cells = [
        [
            row["label"],
            "" if row["bytes"] is None else plain_number(row["bytes"]),
            *(percent(row[share] or 0) for share in ("share", "false_sharing_share")),
            *(plain_number(row["waits"][cause]["transactions"]) for cause in CAUSES),
        ]
        for row in [*shown, *([] if rest is None else [rest])]
    ]
    if shown:
        causes = numbers("false", "true", "replaced", "cold")
        waits = numbers("bytes", "time waited", "by false sharing")
        columns = [*texts("object"), *waits, *causes]
        print_table(columns, cells, "For whose data processors wait, and the misses by cause")


def _print_costs(rows: list[dict[str, Any]]) -> None:
    first = rows[0]
    title = (
        f"{first['trace']} on {first['machine']}, {first['processors']} processors: "
        "MCPR of the optimum by component (local references are 1)"
    )
    columns = numbers("block", "MCPR", "overhead of moves", "of references", "data transfer")
    print_table(columns, [_cost_cells(row) for row in rows], title)


def _cost_cells(row: dict[str, Any]) -> list[str]:
    from homenode.report.sharing import mean

    parts = row["components"]
    names = ("overhead_moves", "overhead_references", "data_transfer")
    shown = ["∞" if parts is None else mean(parts[name], row) for name in names]
    return [format_size(row["block_size"]), mcpr(row), *shown]


def _print_shares(result: SharingResult) -> None:
    """The bounds as shares, which are the same on every machine."""
    cells = []
    for row in result.sizes():
        share, counts = row["shares"], row["counts"]
        necessary = [counts["necessary_low"], counts["necessary_high"]]
        cells.append(
            [
                format_size(row["block_size"]),
                plain_number(counts["transfers"]),
                "-".join(plain_number(n) for n in unique(necessary)),
                _range(share["false_sharing_low"], share["false_sharing_high"]),
                f"≤ {percent(share['bound_7_14'])}",
                f"≥ {percent(share['halving_bound'])}",
                f"≥ {percent(share['intervals'])}",
                percent(share["full_duration"]),
                percent(share["separable"]),
            ]
        )
    bounds = numbers("false sharing", "7.14", "halving", "intervals", "full duration", "separable")
    columns = [*numbers("block", "moves", "necessary"), *bounds]
    title = "False sharing, as a share of all moves where a machine can do nothing but move blocks"
    print_table(columns, cells, title)


def _range(low: float, high: float) -> str:
    left, right = percent(low), percent(high)
    return left if left == right else f"{left[:-1]}-{right}"


def _print_savings(after: SharingResult, savings: list[dict[str, Any]]) -> None:
    cells = []
    for row in savings:
        ends = [row[f"false_sharing_{when}"] for when in ("before", "after")]
        cells.append(
            [
                row["machine"],
                format_size(row["block_size"]),
                plain_number(row["cost_before"]),
                plain_number(row["cost_after"]),
                percent(row["saved_share"]),
                *("-" if end is None else plain_number(end["high"]) for end in ends),
            ]
        )
    costs = numbers("block", "cost before", "after", "saved")
    columns = [*texts("machine"), *costs, *numbers("false sharing before, at most", "after")]
    print_table(columns, cells, f"Hand tuning: what {after.facts['trace']} saves")


def _print_detail(detail: dict[str, Any]) -> None:
    size = format_size(detail["block_size"])
    objects = [
        [
            row["label"],
            plain_number(row["bytes"]),
            str(row["processors"]),
            *_misses(row),
            plain_number(row["separable_words"]),
        ]
        for row in detail["objects"]
    ]
    head = [*texts("object"), *numbers("bytes", "processors")]
    columns = [*head, *_MISS_HEADINGS, *numbers("separable words")]
    print_table(columns, objects, f"Objects in {size} blocks: misses by reason")
    _print_fields(detail["objects"])
    _print_stacks(detail["objects"])
    lines = [[place(row), row["function"], *_misses(row)] for row in detail["lines"]]
    if lines:
        print_table([*texts("source line", "function"), *_MISS_HEADINGS], lines, "Source lines")
    blocks = [
        [
            row["address"],
            str(len(row["processors"])),
            *(plain_number(row["misses"][name]) for name in ("false_sharing", "true_sharing")),
            ", ".join(f"{part['label']} {offsets(part)}" for part in row["objects"][:3]),
        ]
        for row in detail["blocks"]
    ]
    if blocks:
        columns = [*texts("block"), *numbers("processors", "false", "true")]
        columns += texts("objects in it, and the first and last byte of each")
        print_table(columns, blocks, "Blocks")


def _misses(row: dict[str, Any]) -> list[str]:
    """Misses by reason: the columns `_MISS_HEADINGS`."""
    return [plain_number(row["misses"][name]) for name in _MISSES]


def _print_fields(objects: list[dict[str, Any]]) -> None:
    """The fields of the objects whose type is known, with their share of the object's misses."""
    cells = []
    for row in objects:
        whole = sum(row["misses"][name] for name in _MISSES)
        for field in row.get("fields", ()):
            if misses := sum(field["misses"][name] for name in _MISSES):
                share = percent(misses / whole if whole else None)
                cells.append([row["label"], field["name"], share, *_misses(field)])
    if cells:
        columns = [*texts("object", "field"), *numbers("share"), *_MISS_HEADINGS]
        print_table(columns, cells, "Fields: their share of the misses of their objects")


def _print_stacks(objects: list[dict[str, Any]]) -> None:
    """The functions that allocated, where there is more to say than the object's name."""
    cells = []
    for row in objects:
        for stack in row.get("stacks", ()):
            # What an allocator of the program does on behalf of its caller is in the JSON.
            # A mapped file has a stack, but is named by the file and not by where it was mapped.
            site = row.get("allocated_at")
            first = stack.index(site) if site in stack else 0
            calls = list(_calls(stack[first:]))
            if len(calls) > 1:
                cells.append([row["label"], " < ".join(calls)])
    if cells:
        print_table(texts("object", "allocated at, called from"), cells, "Call stacks")


def _calls(stack: list[dict[str, Any]]) -> Iterator[str]:
    """The program's own functions of a call stack, and how many of libraries lie between."""
    for library, frames in groupby(stack, _of_library):
        if library:
            count = sum(1 for _ in frames)
            yield f"({count} {plural(count, 'frame')} of the library)"
        else:
            yield from (f"{place(frame)} ({frame['function']})" for frame in frames)


def _of_library(frame: dict[str, Any]) -> bool:
    """Whether a function is the standard library's of C++, or lies in a header of the system."""
    return frame["file"].startswith(_SYSTEM) or _STANDARD.match(frame["function"]) is not None


def offsets(part: dict[str, Any]) -> str:
    """The first and last byte of an object in a block; brackets would look like indices."""
    first, last = part["offsets"]
    return f"+{first}..+{last}"


def place(line: dict[str, Any]) -> str:
    """A source line as people write it."""
    if line["file"]:
        return f"{line['file'].rsplit('/', 1)[-1]}:{line['line']}"
    # Without debug information there is a function at best, and without that the place in memory.
    return f"{line['pc']:#x}" if "pc" in line else "-"

"""`homenode report`: one HTML file that explains traces and policies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import homenode
from homenode import _core
from homenode.cli import interleavings_table
from homenode.cli.command import examples, json_option
from homenode.cli.options import given_options, options_named, study_options
from homenode.cli.output import command_line, echo, print_json
from homenode.cli.progress import Progress
from homenode.cli.simulate import run
from homenode.engines.placement import MACHINES
from homenode.engines.table import engines_with, refusal
from homenode.errors import ConfigError
from homenode.files import check_output, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.report.answer import Answer
    from homenode.report.build import Study
    from homenode.report.directory import DirectoryReport

OF_HOMES = {
    "protocols": "With a directory: protocols (homenode list protocols). Default: dash.",
    "homes": "With a directory: homes of pages (homenode list homes), compared with the first. "
    "Default: first-touch, round-robin, first-use, optimal-static.",
}
"""Options only for machines with a directory, with their help."""
_WITH_HOMES = engines_with("homes")
_OF_PAGES = {"block_sizes": "the machine's; without --machine 4K, 32K, 256K and 2M"}
# Longer traces are not rewritten to find the misses of source lines.
_REINTERLEAVED_MAX = 200_000_000
_EVEN = ", if all threads go on reference by reference between what synchronises them"
_RECORDED = ", in the turns of the recording, on which that depends"


@click.command(
    epilog=examples(
        "homenode report t.hnt -o report.html",
        "homenode report t.hnt --machine dash-mesh --protocol dash,lrc -o homes.html",
        "homenode report a.hnt b.hnt --machine cc+,numa --block-size 64-8192 -o report.html",
    )
)
@click.argument("traces", nargs=-1, required=True, metavar="T.hnt...")
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The HTML file to write.",
)
@click.option("--title", help="The title of the report.")
@study_options("simulate", defaults=_OF_PAGES)
@options_named(_WITH_HOMES[0], OF_HOMES)
@json_option
def report(
    traces: tuple[str, ...], output: str, title: str | None, as_json: bool, **options: Any
) -> None:
    """Write one self-contained HTML file that explains traces and policies.

    It begins with the answer: where the processors spend their time on a machine of today, for
    which data they wait, what to change and what that gains. Then follow every policy compared with
    the best possible, the effect of block size, the blocks that cost most with their source lines,
    and the sharing map. It needs no network and works in any browser. --machine chooses other
    machines, such as those of 1993 (numa,cc+,dsm+), or another machine for the answer about cache
    lines (spr-2s-lines).

    On a machine with a directory (--machine genoa-8n-directory, dash-mesh) it also compares homes
    of pages: where the time goes, which nodes serve which data, and which nodes fill which page.
    """
    from homenode.report.build import render, study
    from homenode.trace import Trace

    check_output(output, *traces)
    given = given_options(options)
    of_homes = {name: given.pop(name) for name in OF_HOMES if name in given}
    chosen = dict(given)
    of_lines = _take_machine_of_lines(chosen)
    of_homes_on = of_lines if of_lines and _core.engine_of([of_lines]) in _WITH_HOMES else None
    for name in of_homes if of_homes_on is None else ():
        raise refusal(name, _WITH_HOMES, given.get("machines", MACHINES))
    if "machines" not in chosen and "block_sizes" not in chosen:
        # From a page to a large one.
        chosen["block_sizes"] = [4096 << i for i in range(0, 10, 3)]
    title = title or "Where does the time go, and what would help?"
    studies = []
    outcomes: list[dict[str, Any]] = []
    configuration: dict[str, Any] = {}
    for path in traces:
        if not Trace.open(path).references:
            raise ConfigError(
                f"{path}: there are no data references, so there is nothing to report"
            )
        result = run(path, chosen)
        outcomes += result.rows
        configuration = result.configuration
        with Progress("looking for the costliest blocks") as progress:
            found = study(Trace.open(path), result, progress=progress)
        homes = _directory(path, given | of_homes, of_homes_on) if of_homes_on else None
        studies.append(replace(found, answer=_answer(path, given, of_lines), directory=homes))
    html = render(
        studies,
        title=title,
        command=command_line(),
        configuration=configuration,
    )
    size = write_text(output, html)
    if as_json:
        sizes = {"report": output, "bytes": size}
        print_json({**sizes, "outcomes": outcomes, **_rows_of_homes(studies)})
    else:
        echo(f"{output}: {len(studies)} program(s), {size // 1024} KB")


def _rows_of_homes(studies: Sequence[Study]) -> dict[str, list[dict[str, Any]]]:
    """The rows of machines with a directory, if there are any."""
    rows = [row for item in studies if item.directory for row in item.directory.rows]
    return {"homes": rows} if rows else {}


def _take_machine_of_lines(chosen: dict[str, Any]) -> str | None:
    """The machine whose cache lines the report analyses, if one was chosen: it has no policies."""
    from homenode.engines.lines import machines_of_lines
    from homenode.engines.placement import policies_for

    found, rest = machines_of_lines(chosen.get("machines", []))
    if len(found) > 1:
        raise ConfigError(
            f"--machine {','.join(found)}: one machine answers about cache lines; homenode sharing "
            "takes several"
        )
    if rest:
        chosen["machines"] = rest
    elif found:
        del chosen["machines"]
    # Refuses other machines without policies.
    policies_for(rest)
    return found[0] if found else None


def _answer(path: str, given: dict[str, Any], machine: str | None) -> Answer:
    """The answer for one trace: cache lines and pages of machines of today."""
    from homenode.engines.advise import MACHINE
    from homenode.report.answer import answer
    from homenode.report.source import annotated
    from homenode.trace.transforms import transform

    same = _given(given, "private", "sync", "threads")
    with Progress("trying layouts of lines") as progress:
        lines = homenode.advise(path, machine or MACHINE, progress=progress, **same)
    with Progress("trying homes of pages") as progress:
        # As in the table of the policies, which has the same costs.
        of_pages = {"sync": "exclude", **same, **_given(given, "filter")}
        pages = homenode.advise(path, "spr-2s", "first-touch", progress=progress, **of_pages)
    simulated = (path, of_pages)
    brackets = interleavings_table.find(pages.points, simulated, asked=None)
    found = answer(lines, pages, brackets[0] if brackets else None)
    if not found.objects:
        return found
    trace, turns = homenode.Trace.open(path), _RECORDED
    if trace.references <= _REINTERLEAVED_MAX:
        with Progress("making turns of a reference") as progress:
            trace = transform("reinterleave", trace, quantum=1, progress=progress)
        turns = _EVEN
    with Progress("looking for source lines") as progress:
        sharing = homenode.sharing(trace, "cc", 64, detail=64, count=200, progress=progress, **same)
    functions = annotated((sharing.detail or {}).get("lines", []))
    return replace(found, functions=functions, turns=turns)


def _given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those of some options that are given."""
    return {name: options[name] for name in names if name in options}


def _directory(path: str, given: dict[str, Any], machine: str) -> DirectoryReport:
    """Simulates homes of pages on a machine with a directory."""
    from homenode.report.directory import directory
    from homenode.trace import Trace

    same = _given(given, "private", "sync", "threads", "processors", *OF_HOMES)
    with Progress("trying homes on the directory") as progress:
        return directory(Trace.open(path), machine, progress=progress, **same)

"""`homenode demo`: record real programs, simulate every policy, write a report."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from homenode.cli.command import examples, json_option
from homenode.cli.output import echo, print_json, programs_aside
from homenode.cli.progress import Progress
from homenode.cli.simulate import print_result
from homenode.files import write_text
from homenode.options.specs import plain_number

if TYPE_CHECKING:
    from homenode.demo import Check, Program
    from homenode.results.result import Result
    from homenode.trace import Trace

_SHOWN_MACHINE = "numa"


@click.command(epilog=examples("homenode demo", "homenode demo -o /tmp/demo --json"))
@click.option(
    "-o",
    "--output",
    default="demo",
    show_default=True,
    metavar="FOLDER",
    help="Where programs, traces and report.html go.",
)
@json_option
def demo(output: str, as_json: bool) -> int:
    """Record real programs, simulate every policy, write a report.

    Compiles parallel C programs with instrumentation, records them with eight threads, replays
    every policy and the off-line optimum on the base machines with blocks from 64 B to 8 KB, and
    checks two findings of the literature. Takes a minute or two; the exit code is 1 if one of them
    does not hold.
    """
    from homenode import demo as plan

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    results = [(program, *_run(program, folder, as_json)) for program in plan.PROGRAMS]
    found = plan.checks([(program, result) for program, _, result in results])
    page = _report(folder, results, found)
    outcomes = [row for _, _, result in results for row in result]
    if as_json:
        verdicts = [vars(check) for check in found]
        print_json({"report": str(page), "checks": verdicts, "outcomes": outcomes})
    else:
        _tell(results, found, page)
    return 0 if all(check.holds for check in found) else 1


def _run(program: Program, folder: Path, quiet: bool) -> tuple[Trace, Result]:
    from homenode import demo as plan

    aside = programs_aside() if quiet else nullcontext()
    with Progress(f"recording {program.name}") as progress, aside:
        trace = plan.record(program, folder, progress)
    if not quiet:
        echo(
            f"recorded {program.name} {' '.join(program.arguments)}: "
            f"{plain_number(trace.references)} references by {trace.threads} threads, "
            f"{trace.bytes_per_reference:.3g} bytes each"
        )
    with Progress(f"simulating {program.name}") as progress:
        return trace, plan.replay(trace, progress)


def _report(folder: Path, results: list[tuple[Program, Trace, Result]], found: list[Check]) -> Path:
    from homenode.report.build import render, study

    studies = []
    for (program, trace, result), check in zip(results, found[:-1], strict=True):
        verdict = "holds" if check.holds else "differs"
        notes = [f"{check.statement.removeprefix(program.name + ': ')}: {verdict}."]
        with Progress(f"looking into {program.name}") as progress:
            found_there = study(trace, result, program.name, progress)
        studies.append(replace(found_there, notes=notes))
    page = folder / "report.html"
    html = render(
        studies,
        title="How far from the best possible?",
        command="homenode demo",
        configuration=results[0][2].configuration,
    )
    write_text(page, html)
    return page


def _tell(results: list[tuple[Program, Trace, Result]], found: list[Check], page: Path) -> None:
    from homenode.results.result import Result

    for _, _, result in results:
        shown: list[dict[str, Any]] = [r for r in result if r["machine"] == _SHOWN_MACHINE]
        print_result(Result(shown, result.configuration, result.provenance))
    for check in found:
        echo(f"{'holds  ' if check.holds else 'differs'}  {check.statement}")
        for line in check.detail:
            echo(f"         {line}")
    echo(f"\nreport: {page.resolve()}")

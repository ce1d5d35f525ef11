"""`homenode workloads`: build or record the programs that come along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from homenode.cli.command import examples, json_option
from homenode.specs import plain_number

_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group(
    epilog=examples(
        "homenode workloads list",
        "homenode workloads build gauss -o bin",
        "homenode workloads record gauss sorbyr --quick --threads 8 -o traces",
    )
)
def workloads() -> None:
    """Build or record the small parallel C programs that come along."""


@workloads.command("list", epilog=examples("homenode workloads list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the programs, what they compute and how they share memory."""
    from homenode.catalogue import table
    from homenode.cli.output import print_json, print_table

    rows = table("workloads")
    if as_json:
        print_json(rows)
        return
    print_table(
        [("workload", False), ("what it computes", False), ("who references what", False)],
        [[row["name"], row["summary"], row["sharing"]] for row in rows],
    )


@workloads.command(epilog=examples("homenode workloads build gauss p-qsort -o bin"))
@_NAMES
@click.option("-o", "--output", default=".", show_default=True, metavar="FOLDER")
@click.option("--native", is_flag=True, help="Build ordinary programs that cannot be recorded.")
@json_option
def build(names: tuple[str, ...], output: str, native: bool, as_json: bool) -> None:
    """Compile programs; all of them when none is named."""
    from homenode.cli.output import print_json

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    built = [_build(name, folder, native) for name in _chosen(names)]
    if as_json:
        print_json(built)
        return
    for row in built:
        click.echo(row["program"])


@workloads.command(epilog=examples("homenode workloads record gauss --quick -o traces"))
@_NAMES
@click.option("-o", "--output", default=".", show_default=True, metavar="FOLDER")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Default: what the program is meant for, 8 unless its page says otherwise.",
)
@click.option("--quick", is_flag=True, help="The small size that tests use.")
@json_option
def record(
    names: tuple[str, ...], output: str, threads: int | None, quick: bool, as_json: bool
) -> None:
    """Compile and record programs; all of them when none is named."""
    from contextlib import nullcontext

    from homenode import workloads as suite
    from homenode.cli.output import print_json, programs_aside
    from homenode.cli.progress import Progress
    from homenode.trace import Trace

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    for name in _chosen(names):
        program = _build(name, folder, native=False)["program"]
        entry = suite.find(name)
        size = entry.quick if quick else entry.arguments
        aside = programs_aside() if as_json else nullcontext()
        with Progress(f"recording {name}") as progress, aside:
            trace = Trace.record(
                [program, "-p", str(threads or entry.threads), *size],
                folder / f"{name}.hnt",
                progress=progress,
            )
        found.append({"name": name, "trace": str(trace.path), "references": trace.references})
        if not as_json:
            click.echo(f"{trace.path}: {plain_number(trace.references)} references")
    if as_json:
        print_json(found)


def _chosen(names: tuple[str, ...]) -> list[str]:
    from homenode import workloads as suite

    return [suite.find(name).name for name in names] or [entry.name for entry in suite.TABLE]


def _build(name: str, folder: Path, native: bool) -> dict[str, str]:
    from homenode import workloads as suite

    program = suite.build(name, folder / name, "cc" if native else "homenode")
    return {"name": name, "program": str(program.resolve())}


COMMANDS = {"workloads": workloads}

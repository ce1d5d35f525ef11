"""`homenode workloads`: build or record the programs of the studies."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from homenode.cli.command import WholeNumber, examples, json_option
from homenode.cli.output import echo
from homenode.options.specs import plain_number
from homenode.trace import Trace
from homenode_studies.cli.ecommerce import ecommerce

# Cells of the pictures: twice as many as usual, so that the threads of the larger programs can be
# distinguished.
_FINE: dict[str, Any] = {"stretches": 240, "slices": 60}

_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group(
    epilog=examples(
        "homenode workloads list",
        "homenode workloads build gauss -o bin",
        "homenode workloads record gauss sorbyr --quick --threads 8 -o traces",
        "homenode workloads record --size markatos -o traces",
        "homenode workloads ecommerce ec --kernel vmlinuz -o mixes",
    )
)
def workloads() -> None:
    """Build, record, draw or measure the programs of the studies.

    They are small parallel C programs; ecommerce is a whole system of servers with their kernel.
    """


workloads.add_command(ecommerce)


@workloads.command("list", epilog=examples("homenode workloads list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the programs, what they compute and how they share memory."""
    from homenode.catalogue import table
    from homenode.cli.output import print_json
    from homenode.cli.tables import print_table

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
    """Compile programs; all of them if none is named."""
    from homenode.cli.output import print_json

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    built = [_build(name, folder, native) for name in _chosen(names)]
    if as_json:
        print_json(built)
        return
    for row in built:
        echo(row["program"])


@workloads.command(
    epilog=examples(
        "homenode workloads record gauss --quick -o traces",
        "homenode workloads record --size markatos -o traces",
        "homenode workloads record weather --size markatos --threads 16 -o traces",
    )
)
@_NAMES
@click.option("-o", "--output", default=".", show_default=True, metavar="FOLDER")
@click.option(
    "--threads",
    type=WholeNumber(min=1),
    metavar="N",
    help="Default: 8, or the number of the given size.",
)
@click.option("--quick", is_flag=True, help="The small size, which tests use.")
@click.option(
    "--size",
    metavar="STUDY",
    help="The size, threads and quantum of a publication's study, such as markatos; without NAME "
    "all programs that have it. `homenode workloads list --json` has the sizes.",
)
@click.option(
    "--quantum",
    type=WholeNumber(min=1),
    metavar="Q",
    help="References a thread makes before the next thread's turn. Default: 100, or that of the "
    "given size.",
)
@json_option
def record(names: tuple[str, ...], output: str, as_json: bool, **options: Any) -> None:
    """Compile and record programs; all of them if none is named."""
    from homenode.cli.output import print_json

    if options["quick"] and options["size"] is not None:
        raise click.UsageError("--quick and --size: give one of them")
    # Unknown names and sizes are errors before anything is compiled.
    runs = [_run(name, **options) for name in _chosen(names, options["size"])]
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    for run in runs:
        trace = _record(run, folder, aside=as_json)
        found.append({"name": run[0], "trace": str(trace.path), "references": trace.references})
        if not as_json:
            echo(f"{trace.path}: {plain_number(trace.references)} references")
    if as_json:
        print_json(found)


@workloads.command(epilog=examples("homenode workloads picture gauss -o docs/workloads"))
@_NAMES
@click.option("-o", "--output", default=".", show_default=True, metavar="FOLDER")
@json_option
def picture(names: tuple[str, ...], output: str, as_json: bool) -> None:
    """Record programs in the quick size, and draw who references what when, to NAME.svg."""
    from homenode.cli.output import print_json
    from homenode.engines.picture import picture
    from homenode.files import replacing
    from homenode_studies import workloads as suite

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, trace in _recorded([_run(name, quick=True) for name in _chosen(names)]):
        title = f"{name}, quick size, {suite.THREADS} threads"
        found = picture(trace, title=title, **_FINE)
        path = folder / f"{name}.svg"
        with replacing(path) as file:
            file.write(found.svg().encode())
        drawn.append({"name": name, "picture": str(path), "bytes": path.stat().st_size})
        if not as_json:
            echo(f"{path}: {path.stat().st_size:,} bytes")
    if as_json:
        print_json(drawn)


@workloads.command(
    epilog=examples("homenode workloads table", "homenode workloads table --size talbot --json")
)
@_NAMES
@click.option("--quick", is_flag=True, help="The small size, which tests use.")
@click.option("--size", metavar="STUDY", help="The size of a publication's study.")
@json_option
def table(names: tuple[str, ...], quick: bool, size: str | None, as_json: bool) -> None:
    """Record programs, and count references, private references, and bytes per reference.

    Table 2.1 of Bolosky's thesis for our programs, with and without program counters. In the mean
    every program has the same weight. Default sizes take several minutes.
    """
    from homenode.cli.output import print_json
    from homenode.cli.tables import print_table
    from homenode_studies.workloads.measure import BYTES, mean, measure

    if quick and size is not None:
        raise click.UsageError("--quick and --size: give one of them")
    runs = [_run(name, quick=quick, size=size) for name in _chosen(names, size)]
    rows = [measure(name, trace) for name, trace in _recorded(runs)]
    average = mean(rows)
    if as_json:
        print_json({"programs": rows, "mean": average})
        return
    cells = [
        [
            row["name"],
            plain_number(row["references"]),
            plain_number(row["private"]),
            "-" if row["read_share"] is None else f"{100 * row['read_share']:.0f} %",
            *(f"{row[field]:.3f}" for field in BYTES),
        ]
        for row in rows
    ]
    cells.append(["mean", "", "", "", *(f"{average[field]:.3f}" for field in BYTES)])
    headings = ("references", "private", "reads", "bytes/ref", "without pc")
    print_table([("workload", False), *((heading, True) for heading in headings)], cells)


def _recorded(runs: list[tuple[str, list[str], int]]) -> Iterator[tuple[str, Trace]]:
    """Records programs one after the other, and deletes each trace before the next one."""
    from tempfile import TemporaryDirectory

    for run in runs:
        with TemporaryDirectory(prefix="homenode-") as place:
            yield run[0], _record(run, Path(place), aside=True)


def _record(run: tuple[str, list[str], int], folder: Path, *, aside: bool) -> Trace:
    """Builds and records one program; with `aside`, its output goes to standard error."""
    from contextlib import nullcontext

    from homenode.cli.output import programs_aside
    from homenode.cli.progress import Progress
    from homenode.trace import Trace

    name, words, quantum = run
    line = [_build(name, folder, native=False)["program"], *words]
    with Progress(f"recording {name}") as progress, programs_aside() if aside else nullcontext():
        return Trace.record(line, folder / f"{name}.hnt", quantum=quantum, progress=progress)


def _run(
    name: str,
    *,
    size: str | None = None,
    quick: bool = False,
    threads: int | None = None,
    quantum: int | None = None,
) -> tuple[str, list[str], int]:
    """A program's name, its arguments, and the quantum of its recording."""
    from homenode_studies import workloads as suite

    entry = suite.find(name)
    meant = suite.Size(suite.THREADS, entry.quick if quick else entry.arguments)
    if size is not None:
        meant = entry.size(size)
    words = ["-p", str(threads or meant.threads), *meant.arguments]
    return name, words, quantum or meant.quantum


def _chosen(names: tuple[str, ...], size: str | None = None) -> list[str]:
    from homenode_studies import workloads as suite

    if size is not None and not names:
        return suite.with_size(size)
    return [suite.find(name).name for name in names] or [entry.name for entry in suite.TABLE]


def _build(name: str, folder: Path, native: bool) -> dict[str, str]:
    from homenode_studies import workloads as suite

    program = suite.build(name, folder / name, "cc" if native else "homenode")
    return {"name": name, "program": str(program.resolve())}

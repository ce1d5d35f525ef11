"""Results on the screen and in files: tables for people, JSON, CSV and Parquet for machines."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from homenode.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Columns are so far apart, and a column of text that wraps is at least so wide.
_BETWEEN = 3
_WRAPPED = 24


def echo(text: str = "", *, err: bool = False) -> None:
    """Prints text, on standard error if `err`: the one place where a command prints text.

    Names in it come from traces and files: what could steer a terminal is shown as an escape.
    """
    click.echo(shown(text, lines=True), err=err)


def print_json(value: Any) -> None:
    """Prints JSON, indented, keys in the order of the table or result."""
    click.echo(json.dumps(value, indent=2))


def print_table(
    columns: Sequence[tuple[str, bool]],
    rows: Iterable[Sequence[str]],
    title: str | None = None,
    *,
    lines: bool = False,
    labels: int = 0,
) -> None:
    """Prints a table; each column has a heading and whether it holds numbers.

    Rows may have cells of several lines if `lines`, and have a rule between them then. If the first
    columns are `labels`, and a terminal is too narrow for the table, it comes in parts that have
    these columns each: else numbers would lose digits.
    """
    cells = list(rows)
    everything = [list(range(len(columns)))]
    parts = _parts(columns, cells, labels, console().width) if labels else everything
    for i, part in enumerate(parts):
        _print_part(
            [columns[column] for column in part],
            [[row[column] for column in part] for row in cells],
            None if i else title,
            lines=lines,
        )


def _parts(
    columns: Sequence[tuple[str, bool]], cells: Sequence[Sequence[str]], labels: int, width: int
) -> list[list[int]]:
    """Columns of the parts of a table: in each the labels, and as many more as have room."""

    def needed(i: int) -> int:
        heading, numeric = columns[i]
        widest = max(len(text) for text in (*heading.split("\n"), *(row[i] for row in cells)))
        return _BETWEEN + (widest if numeric or i < labels else min(widest, _WRAPPED))

    first = [*range(labels)]
    least = sum(map(needed, first))
    parts, used = [first.copy()], least
    for i in range(labels, len(columns)):
        if used + needed(i) > width and len(parts[-1]) > labels:
            parts.append(first.copy())
            used = least
        parts[-1].append(i)
        used += needed(i)
    return parts


def _print_part(
    columns: Sequence[tuple[str, bool]],
    rows: Iterable[Sequence[str]],
    title: str | None,
    *,
    lines: bool,
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        title=title and Text(shown(title), style="bold"),
        title_justify="left",
        pad_edge=False,
        show_lines=lines,
    )
    for heading, numeric in columns:
        # A number that wraps reads as two numbers.
        table.add_column(
            heading,
            justify="right" if numeric else "left",
            no_wrap=numeric,
            overflow="fold",
        )
    for row in rows:
        # As Text: a bracket in somebody's file name is not a style.
        table.add_row(*(Text(shown(cell, lines=lines)) for cell in row))
    console().print(table)


def print_facts(facts: Iterable[tuple[str, str]], aside: bool = False) -> None:
    """Prints names and values in two columns, on standard error if `aside`."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(shown(name), style="dim"), Text(shown(value)))
    console(aside).print(table)


@contextmanager
def programs_aside() -> Iterator[None]:
    """Sends what started programs print to standard error, so that ours is JSON alone."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)


def note_samples(trace: str) -> None:
    """Says on standard error if a trace holds only samples of the references that were made."""
    from homenode import Trace

    if how := Trace.open(trace).info["metadata"].get("sampling"):
        echo(
            f"note: the trace holds samples ({how}): counts and costs are of the samples", err=True
        )


def print_notes(*provenances: dict[str, Any]) -> None:
    """Says on standard error what one must know about results, and what to do first; each once."""
    from homenode.options.specs import unique

    said = [
        note
        for provenance in provenances
        for note in (*provenance.get("notes", []), *provenance.get("suggestions", []))
    ]
    for note in unique(said):
        echo(f"note: {note}", err=True)


def note_synchronisation(trace: str, *, left_out: bool) -> None:
    """Says on standard error how many references to locks and the like are left out."""
    from homenode import Trace

    opened = Trace.open(trace)
    count = opened.info["sync"]
    if left_out and count:
        share = 100 * count / max(opened.references, 1)
        part = f"{share:.2g}" if share < 10 else f"{share:.0f}"
        click.echo(
            f"note: {count:,} references ({part} %) synchronise threads and are left out; "
            "--sync include counts them",
            err=True,
        )


def console(aside: bool = False) -> Any:
    """A rich console, wide enough for tables when it writes to a file or pipe."""
    from rich.console import Console

    stream = sys.stderr if aside else sys.stdout
    wide = None if stream.isatty() else 200
    made: Any = Console(file=stream, width=wide, highlight=False, soft_wrap=False)
    made.on_broken_pipe = _reader_gone  # rich would end with 1, which here means findings
    return made


def _reader_gone() -> None:
    raise BrokenPipeError


def write_csv(rows: Iterable[dict[str, Any]], path: str) -> None:
    """Writes flat rows as CSV to a file that appears when complete, or to ``-``."""
    import csv
    import io

    listed = list(rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    if path == "-":
        _print_csv(text.getvalue())
        return
    from homenode.files import replacing

    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _print_csv(text: str) -> None:
    """Prints CSV: as it is for programs, for people without what could steer their terminal."""
    click.echo(shown(text, lines=True) if sys.stdout.isatty() else text, nl=False)


def write_parquet(rows: Iterable[dict[str, Any]], path: str) -> None:
    """Writes flat rows as Parquet to a file that appears when complete."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from homenode.files import replacing

    listed = list(rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    table = pa.table({name: [row.get(name) for row in listed] for name in names})
    if path == "-":
        pq.write_table(table, sys.stdout.buffer, compression="zstd")
        return
    with replacing(path) as file:
        pq.write_table(table, file, compression="zstd")


def check_outputs(paths: Iterable[str | None], *inputs: str) -> None:
    """Checks, before any work is done, that the files asked for can get their names.

    Raises:
        OSError: as `homenode.files.check_output`, and when two of them are the same file.
    """
    from homenode.files import check_output, same_file

    wanted = [path for path in paths if path is not None]
    for i, path in enumerate(wanted):
        check_output(path, *inputs)
        if any(same_file(path, other) for other in wanted[:i]):
            message = "two outputs have this name (--csv, --parquet, -o); give each its own"
            raise OSError(errno.EINVAL, message, path)


def write_tables(
    rows: Callable[[], Iterable[dict[str, Any]]], csv: str | None, parquet: str | None
) -> None:
    """Writes flat rows to the files asked for with --csv and --parquet."""
    if csv is not None:
        write_csv(rows(), csv)
    if parquet is not None:
        write_parquet(rows(), parquet)

"""Results as text, JSON, CSV and Parquet; notes about them; `tables` draws the tables."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from homenode.sanitize import sanitized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def echo(text: str = "", *, err: bool = False) -> None:
    """Prints text, on standard error if `err`: the one place where a command prints text.

    Names in it come from traces and files: control characters are shown as escapes.
    """
    click.echo(sanitized(text, lines=True), err=err)


def print_json(value: Any) -> None:
    """Prints JSON, indented, keys in the order of the table or result."""
    click.echo(json.dumps(value, indent=2))


@contextmanager
def programs_aside() -> Iterator[None]:
    """Redirects the output of child processes to standard error: ours is then JSON alone."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)


def note_samples(trace: str) -> None:
    """Notes on standard error that a trace holds only samples of the program's references."""
    from homenode import Trace

    if how := Trace.open(trace).info["metadata"].get("sampling"):
        echo(
            f"note: the trace holds samples ({how}): counts and costs are of the samples", err=True
        )


def print_notes(*provenances: dict[str, Any]) -> None:
    """Prints the notes and suggestions of results on standard error, each once."""
    from homenode.options.specs import unique

    said = [
        note
        for provenance in provenances
        for note in (*provenance.get("notes", []), *provenance.get("suggestions", []))
    ]
    for note in unique(said):
        echo(f"note: {note}", err=True)


def note_synchronisation(trace: str, *, left_out: bool) -> None:
    """Notes on standard error how many references to locks and the like are left out."""
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
    """Prints CSV, on a terminal with control characters escaped."""
    click.echo(sanitized(text, lines=True) if sys.stdout.isatty() else text, nl=False)


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
    """Checks, before any work is done, that the output files can be written.

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

"""Text and JSON on standard output, notes about results; `tables` draws the tables."""

import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from homenode.sanitize import sanitized


def echo(text: str = "", *, err: bool = False) -> None:
    """Prints text, on standard error if `err`: the one place where a command prints text.

    Names in it come from traces and files: control characters are shown as escapes.
    """
    click.echo(sanitized(text, lines=True), err=err)


def print_json(value: Any) -> None:
    """Prints JSON, indented, keys in the order of the table or result."""
    click.echo(json.dumps(value, indent=2))


def command_line() -> str:
    """The current command line, as typed in a shell."""
    return shlex.join(["homenode", *sys.argv[1:]])


def exit_code(run: dict[str, Any]) -> int:
    """The exit status of a program that was recorded or run, as a shell reports it."""
    signal, code = run["signal"], run["exit_code"]
    return int(code or 0) if signal is None else 128 + int(signal)


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

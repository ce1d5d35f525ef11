"""`homenode record --check`: compares the recording with one under emulation."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from homenode.cli.output import echo, programs_aside
from homenode.cli.progress import Progress
from homenode.cli.tables import numbers, print_table, texts

if TYPE_CHECKING:
    from homenode.capture.checking import CheckResult, CheckRow

_ROWS = 20

check_option = click.option(
    "--check",
    is_flag=True,
    help="With cc, then record the uninstrumented program under emulation, and print which bytes "
    "hooks did not see, by object and source line. For ./prog this runs ./prog.native, which "
    "homenode cc links with HOMENODE_NATIVE=1. The trace is not changed.",
)


@dataclass
class Comparison:
    """A check that was asked for.

    given: the uninstrumented program that the user named.
    command: its own command line, once it is found.
    input_at: where standard input was before the program read it; None if it cannot go back.
    """

    given: str | None
    command: tuple[str, ...] = ()
    input_at: int | None = None

    @classmethod
    def asked(cls, options: dict[str, Any]) -> Comparison | None:
        """The check that the options ask for, which are taken out."""
        if not options.pop("check"):
            return None
        given = options["native_program"]
        if not options["native"]:  # Otherwise the program is timed, too.
            options["native_program"] = None
        return cls(given)

    def prepare(self, recordings: list[dict[str, Any]]) -> None:
        """Finds the program and the emulator, before anything is recorded.

        Raises:
            ConfigError: when one is missing.
        """
        from homenode.capture import checking

        if len(recordings) > 1:
            raise click.UsageError(
                "--check compares one recording: give one --quantum, and no --repeat"
            )
        program, *words = recordings[0]["argv"]
        # The recording with hooks uses no emulator.
        twin = checking.prepare(program, self.given, recordings[0]["emulator"])
        self.command = (twin, *words)
        with suppress(OSError):  # A pipe or a terminal.
            self.input_at = os.lseek(0, 0, os.SEEK_CUR)

    def run(self, options: dict[str, Any], *, quiet: bool) -> CheckResult:
        """Compares the recording that was made with these options."""
        from homenode.capture import checking
        from homenode.trace import Trace

        if self.input_at is not None:
            os.lseek(0, self.input_at, os.SEEK_SET)
        shared = {name: options[name] for name in ("order", "quantum", "seed", "emulator")}
        with Progress("checking", quiet=quiet) as progress, programs_aside():
            return checking.check(
                Trace.open(options["output"]), self.command, progress=progress, **shared
            )


def print_check(check: CheckResult) -> None:
    """Prints what differs and the verdict on standard error, where the summary is."""
    rows = check.differing()
    if rows:
        print_table(
            [
                *texts("object or line"),
                *numbers("read: hooks", "read: emulated", "written: hooks", "written: emulated"),
                *texts("reason"),
            ],
            [_cells(row) for row in rows[:_ROWS]],
            title="bytes that differ by more than 2 %",
            aside=True,
        )
    if len(rows) > _ROWS:
        echo(f"and {len(rows) - _ROWS:,} more rows, which --json has", err=True)
    for note in check.notes:
        echo(f"note: {note}", err=True)
    echo(check.verdict, err=True)


def _cells(row: CheckRow) -> list[str]:
    counts = (row.hooks_read, row.emulated_read, row.hooks_written, row.emulated_written)
    return [row.label, *(f"{count:,}" for count in counts), row.reason]

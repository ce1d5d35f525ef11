"""Checks a recording with hooks against one of the same program under emulation.

>>> import homenode as hn
>>> from homenode.capture import checking
>>> seen = hn.Trace.from_numpy(thread=[0, 0], kind=["W", "R"], address=[0x1000, 0x1000])
>>> all_ = hn.Trace.from_numpy(thread=[0] * 3, kind=["W", "W", "R"], address=[0x1000] * 3)
>>> check = checking.compare(seen, all_)
>>> [(row.hooks_written, row.emulated_written, row.agrees) for row in check.objects]
[(4, 8, False)]
>>> check.verdict
'hooks and emulation agree within 2 % for 0 of 1 objects (0.0 % of the bytes outside of stacks)'
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from homenode import _core
from homenode.capture import native, reasons, recording
from homenode.capture.counting import (
    COLUMNS,
    LIBRARY,
    PARTS,
    READ_BYTES,
    REFERENCES,
    WRITTEN_BYTES,
    Counts,
    Key,
    counted,
)
from homenode.capture.reasons import TOLERANCE, agree
from homenode.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from homenode.trace import Trace

__all__ = ["CheckResult", "CheckRow", "check", "compare", "prepare"]

Progress = Callable[[int, int | None], None] | None

# Kinds of objects that are the compiler's and the C library's and not the program's.
_NOT_THE_PROGRAMS = frozenset(["stacks", "library data"])
# Of a function's name, in a row's label.
_LONGEST = 40
# Options of a recording that hooks and emulation both have.
_SHARED = ("order", "quantum", "seed", "sysroot", "emulator")


@dataclass(frozen=True)
class CheckRow:
    """An object, or a place in the code, in both recordings. Numbers are bytes or references.

    kind: of an object ``static``, ``heap``, ``stacks``, ``thread-local``, ``section`` (data of the
        program without a symbol), ``mapping`` or ``library data``; of code ``line`` or ``library``.
    name: of the object, the function or the library.
    file: source file of a line, otherwise empty.
    line: its number, otherwise 0.
    hooks_read: bytes read, as recorded with hooks.
    hooks_written: bytes written, as recorded with hooks.
    emulated_read: bytes read under emulation, by all code; for a line by this line, and by
        ``memcpy`` and its family when the line calls them.
    emulated_written: bytes written under emulation, likewise.
    library_read: of `emulated_read`, what libraries read by themselves.
    library_written: of `emulated_written`, what libraries wrote by themselves.
    hooks_references: references with hooks.
    emulated_references: references under emulation.
    agrees: whether bytes read and bytes written differ by at most 2 % of the larger number.
    reason: why they differ, as far as the recordings show it, or ``unknown``; empty if they agree.
    """

    kind: str
    name: str
    file: str
    line: int
    hooks_read: int
    hooks_written: int
    emulated_read: int
    emulated_written: int
    library_read: int
    library_written: int
    hooks_references: int
    emulated_references: int
    agrees: bool
    reason: str

    @property
    def difference(self) -> int:
        """Bytes by which the recordings differ, read and written together."""
        return abs(self.hooks_read - self.emulated_read) + abs(
            self.hooks_written - self.emulated_written
        )

    @property
    def label(self) -> str:
        """What the row is about, in a few words."""
        if self.kind == "line":
            # Names of templates are longer than any table is wide.
            whole = len(self.name) <= _LONGEST
            function = self.name if whole else f"{self.name[: _LONGEST - 3]}..."
            return f"{Path(self.file).name}:{self.line} ({function})"
        if self.kind == "library":
            return f"code: {self.name}"
        if self.kind == "library data":
            return f"data of {self.name}"
        if self.kind == "heap" and self.name != "heap":
            return f"heap, {self.name}"
        return f"{self.kind} {self.name}" if self.kind in ("static", "section") else self.name


@dataclass(frozen=True)
class CheckResult:
    """What the comparison of two recordings found.

    verdict: one sentence.
    hooks: ``compiler``, ``assembly`` or ``both``, by which hooks the program calls; empty if that
        is not known.
    notes: what else the reader should know, a sentence each.
    objects: a row for each object, largest difference first; together all bytes.
    code: a row for each source line of the program and each library, largest difference first;
        together all bytes but those on stacks, in thread-local storage, and in literals and tables
        that the compiler and the linker add.
    """

    verdict: str
    hooks: str
    notes: tuple[str, ...]
    objects: tuple[CheckRow, ...]
    code: tuple[CheckRow, ...]

    def differing(self) -> list[CheckRow]:
        """The rows of objects and code that do not agree, largest difference first.

        The data of libraries are left out: their code has rows.
        """
        rows = [
            row
            for row in (*self.objects, *self.code)
            if not row.agrees and row.kind != "library data"
        ]
        return sorted(rows, key=lambda row: -row.difference)

    def as_dict(self) -> dict[str, Any]:
        """The check as JSON has it: an object with these fields; rows have those of `CheckRow`."""
        return asdict(self)


def compare(hooks: Trace, emulated: Trace, *, progress: Progress = None) -> CheckResult:
    """Compares a recording with hooks and one of the uninstrumented program under emulation.

    Args:
        hooks: the recording with hooks.
        emulated: the other one; its program has source lines if it was compiled with ``-g``.
        progress: called with the references done and in all of each trace.

    Returns:
        Rows for all objects and all code, in bytes.

    Raises:
        TraceError: when a trace is damaged.
    """

    def has_sites(trace: Trace) -> bool:
        return any(one["kind"] == "heap" for one in trace.metadata.get("ranges", []))

    by_site = has_sites(hooks) and has_sites(emulated)
    told = progress or _unreported
    seen = counted(hooks.path, hooked=True, by_site=by_site, progress=told)
    made = counted(emulated.path, hooked=False, by_site=by_site, progress=told)
    runs = reasons.runs(seen, made)
    objects = _rows(seen.objects, made.objects, runs)
    code = _rows(seen.code, made.code, runs)
    return CheckResult(_verdict(objects), runs.hooks, _notes(runs, made), objects, code)


def _unreported(_done: int, _total: int | None) -> None:
    """Takes the progress when the caller has asked for none."""


def _rows(
    hooks: dict[Key, NDArray[np.int64]],
    emulated: dict[Key, NDArray[np.int64]],
    runs: reasons.Runs,
) -> tuple[CheckRow, ...]:
    nothing = np.zeros((PARTS, COLUMNS), np.int64)
    rows = []
    for key in dict.fromkeys([*hooks, *emulated]):
        seen, made = hooks.get(key, nothing), emulated.get(key, nothing)
        hooked, whole = seen.sum(0), made.sum(0)
        rows.append(
            CheckRow(
                kind=key.kind,
                name=key.name,
                file=key.file,
                line=key.line,
                hooks_read=int(hooked[READ_BYTES]),
                hooks_written=int(hooked[WRITTEN_BYTES]),
                emulated_read=int(whole[READ_BYTES]),
                emulated_written=int(whole[WRITTEN_BYTES]),
                library_read=int(made[LIBRARY, READ_BYTES]),
                library_written=int(made[LIBRARY, WRITTEN_BYTES]),
                hooks_references=int(hooked[REFERENCES]),
                emulated_references=int(whole[REFERENCES]),
                agrees=agree(hooked, whole),
                reason=reasons.reason(key, seen, made, runs),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.difference, row.kind, row.name, row.line)))


def _verdict(objects: Sequence[CheckRow]) -> str:
    """How many of the program's objects agree, with and without what libraries do to them."""
    mine = [row for row in objects if row.kind not in _NOT_THE_PROGRAMS]
    size = {id(row): max(_bytes(row)) for row in mine}
    agreeing = [row for row in mine if row.agrees]
    share = 100 * sum(size[id(row)] for row in agreeing) / max(sum(size.values()), 1)
    text = (
        f"hooks and emulation agree within {TOLERANCE:.0%}".replace("%", " %")
        + f" for {len(agreeing)} of {len(mine)} objects "
        f"({share:.1f} % of the bytes outside of stacks)"
    )
    own = sum(row.agrees or row.reason == reasons.LIBRARY_CODE for row in mine)
    return text if own == len(agreeing) else f"{text}; without library code for {own}"


def _bytes(row: CheckRow) -> tuple[int, int]:
    return row.hooks_read + row.hooks_written, row.emulated_read + row.emulated_written


def _notes(runs: reasons.Runs, emulated: Counts) -> tuple[str, ...]:
    notes = []
    if runs.another_run:
        notes.append(f"{runs.another_run}: what differs may be the run")
    elif runs.common and not runs.alike:
        notes.append(
            "less than half of the lines that both recordings have agree: the program may take "
            "another path each time"
        )
    if not any(key.kind == "line" for key in emulated.code):
        notes.append(
            "the uninstrumented program has no source lines, so its code is a single row: compile "
            "it with -g"
        )
    return tuple(notes)


def prepare(program: str, native_program: str | None = None, emulator: str = "") -> str:
    """Finds what a check needs, before anything is recorded.

    Args:
        program: the program with hooks.
        native_program: its uninstrumented twin; by default ``PROGRAM.native``.
        emulator: the emulator; by default the one for the program, from PATH.

    Returns:
        The twin.

    Raises:
        ConfigError: when there is no twin, or no emulator that can record it, with what to do.
    """
    twin = native.twin(program, native_program, for_="--check")
    trial = shutil.which("true")
    if trial is not None:
        # Whether an emulator can load plugins shows only when it runs something.
        with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
            _emulate([trial], Path(folder) / "trial.hnt", {"emulator": emulator}, None)
    return twin


def _emulate(
    command: Sequence[str], path: Path, options: dict[str, Any], progress: Progress
) -> None:
    wanted = {name: value for name, value in options.items() if name in _SHARED}
    if wanted.get("order") == "logical":  # Emulation has no such order.
        wanted["order"] = "deterministic"
    wanted |= {"argv": [*command], "output": str(path), "via": "qemu"}
    with recording.ready(wanted), _output_discarded():
        _core.record(json.dumps(wanted), progress)


@contextmanager
def _output_discarded() -> Iterator[None]:
    """The program has written its output once already."""
    sys.stdout.flush()
    ours, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)
        os.close(nowhere)


def check(
    hooks: Trace, command: Sequence[str], *, progress: Progress = None, **options: Any
) -> CheckResult:
    """Records an uninstrumented program under emulation, and compares it with a recording.

    The emulated recording is deleted afterwards. The program's standard output is discarded.

    Args:
        hooks: the recording with hooks.
        command: the uninstrumented program, as from `prepare`, and the same arguments.
        progress: called while the program runs and while recordings are compared.
        options: ``order``, ``quantum``, ``seed``, ``sysroot``, ``emulator``, as in
            `homenode.trace.trace.RecordOptions`; in place of logical order, which emulation does
            not have, deterministic.

    Raises:
        ConfigError: when the program cannot be emulated.
        TraceError: when a trace is damaged or cannot be written.
    """
    if unknown := sorted(set(options) - {*_SHARED}):
        raise ConfigError(
            f"a check has no option {', '.join(unknown)}; its options are {', '.join(_SHARED)}"
        )
    with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
        path = Path(folder) / "emulated.hnt"
        _emulate(command, path, options, progress)
        return compare(hooks, type(hooks).open(path), progress=progress)

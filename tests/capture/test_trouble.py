"""Failures while a program is recorded."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import homenode as hn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Builder, Recorder
    from support.command import Printed

_CLI = [sys.executable, "-m", "homenode"]


def _record(trace: Path, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
    line = [*_CLI, "record", "-o", str(trace), "--", *words]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        line, capture_output=True, text=True, check=False, timeout=250, **more
    )


def test_a_full_disk_is_an_error_and_the_program_continues(
    build: Builder, natively: Printed, tmp_path: Path
) -> None:
    program = build("large.c")

    def limit() -> None:
        # Enough for the memory shared with the program, not for the trace.
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000_000, 9_000_000))

    done = _record(tmp_path / "t.hnt", str(program), "6000000", preexec_fn=limit)
    assert done.returncode == 2
    assert "t.hnt" in done.stderr
    assert done.stdout == natively(program, "6000000")
    assert not (tmp_path / "t.hnt").exists()


def test_a_program_built_without_the_wrapper(tmp_path: Path) -> None:
    done = _record(tmp_path / "t.hnt", "/bin/echo", "hello")
    assert done.returncode == 2
    assert done.stdout == "hello\n"
    assert "homenode cc" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    done = _record(tmp_path / "t.hnt", str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert "cannot start" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", ["deterministic", "logical", "free"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_killed_recorder_ends_the_program_and_hangs_no_other(
    build: Builder, kill_recorder: Callable[..., None], tmp_path: Path, order: str, goes_on: bool
) -> None:
    report = tmp_path / "report"
    argv = [str(build("marathon.c")), str(report)]
    if goes_on:
        # The shell, which the recorder started, is killed, but not the shell's child.
        argv = ["/bin/sh", "-c", '"$@"; :', "sh", *argv]
    options = {"argv": argv, "output": str(tmp_path / "t.hnt"), "order": order}
    kill_recorder(options, report, patience_s=200, goes_on=goes_on)
    # What was on disk by then can be repaired.
    assert (tmp_path / "t.hnt.partial").exists()


@pytest.mark.parametrize("order", ["deterministic", "logical", "free"])
@pytest.mark.parametrize("source", ["raw_thread.c", "clone_vm.c", "timer_thread.c"])
def test_threads_of_unknown_origin_are_counted(
    build: Builder, record: Recorder, source: str, order: str
) -> None:
    recording = record(build(source), order=order)
    assert recording.out == "499500\n"
    assert recording.summary["lost_threads"] == 1
    assert "repeatable" not in recording.metadata()["order"]
    if source == "raw_thread.c":
        assert record(build(source), "ordinary", order=order).summary["lost_threads"] == 0


def test_interrupting_keeps_what_was_recorded(
    build: Builder, interrupt_recorder: Callable[..., None], tmp_path: Path
) -> None:
    trace = tmp_path / "t.hnt"
    interrupt_recorder({"argv": [str(build("endless.c"))], "output": str(trace)})
    assert hn.Trace.open(trace).references > 1000


def test_a_script_that_starts_the_program(build: Builder, record: Recorder, tmp_path: Path) -> None:
    """The first instrumented process is recorded, and only that one."""
    script = tmp_path / "run.sh"
    program = build("racy.c")
    script.write_text(f"#!/bin/sh\necho begin\n{program} > /dev/null\n{program} > /dev/null\n")
    script.chmod(0o755)
    recording = record(script)
    assert recording.out == "begin\n"
    assert len(recording.touching("counter")["addr"]) == 4 * 300


def test_the_program_sees_its_own_environment_and_files(
    build: Builder, record: Recorder, natively: Printed
) -> None:
    program = build("surroundings.c")
    assert record(program).out == natively(program)


def test_recording_a_program_as_it_is_linked_today(build: Builder, natively: Printed) -> None:
    """Without a recorder an instrumented program behaves as if it were not instrumented."""
    assert natively(build("marks.c")) == "1 9\n"
    assert "HOMENODE_FD" not in os.environ

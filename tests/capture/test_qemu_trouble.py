"""Failures while an unmodified program is recorded."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import homenode as hn
from homenode.capture import plugin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Builder, Qemu, Recorder


pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _options(qemu: Qemu, program: Path, trace: Path, *words: str) -> dict[str, object]:
    return {
        "argv": [str(program), *words],
        "output": str(trace),
        "via": "qemu",
        "plugin": str(plugin.plugin()),
        "emulator": qemu.emulator(),
    }


def test_a_full_disk_is_an_error_and_the_program_continues(
    compiled: Builder, tmp_path: Path
) -> None:
    program = compiled("large.c")
    native = subprocess.run([str(program), "6000000"], capture_output=True, text=True, check=True)
    line = [sys.executable, "-m", "homenode", "record", "--via", "qemu"]
    line += ["-o", str(tmp_path / "t.hnt"), "--", str(program), "6000000"]
    plugin.plugin()

    def limit() -> None:
        # Enough for the memory shared with the program, not for the trace.
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000_000, 9_000_000))

    done = subprocess.run(
        line, capture_output=True, text=True, check=False, timeout=1000, preexec_fn=limit
    )
    assert done.returncode == 2
    assert "t.hnt" in done.stderr
    assert done.stdout == native.stdout
    assert not (tmp_path / "t.hnt").exists()


_FAILING_EMULATOR = r"""
#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "-version") == 0)
        return puts("qemu-x86_64 version 7.2.22") < 0;
    if (argc > 1 && strcmp(argv[1], "-help") == 0)
        return puts("-plugin") < 0;
    assert(argc == 0);
}
"""


def test_a_failure_of_qemu_itself_is_called_that(compiled: Builder, tmp_path: Path) -> None:
    source = tmp_path / "emulator.c"
    source.write_text(_FAILING_EMULATOR)
    emulator = tmp_path / "qemu-x86_64"
    compiler = str(shutil.which("gcc"))
    subprocess.run([compiler, "-Wl,-z,lazy", "-o", str(emulator), str(source)], check=True)
    line = [sys.executable, "-m", "homenode", "record", "--via", "qemu"]
    line += ["--emulator", str(emulator), "-o", str(tmp_path / "t.hnt")]
    line += ["--", str(compiled("large.c")), "1"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 2
    assert "QEMU itself failed, by an assertion of its own" in done.stderr


def test_a_program_that_aborts_is_no_failure_of_qemu(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("aborts.c"))
    assert (made.summary["signal"], made.summary["emulator_failed"]) == (6, False)
    assert made.metadata()["provenance"] == ["record"]


@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_a_killed_recorder_ends_the_program(
    compiled: Builder, kill_recorder: Callable[..., None], qemu: Qemu, tmp_path: Path, order: str
) -> None:
    report = tmp_path / "report"
    options = _options(qemu, compiled("marathon.c"), tmp_path / "t.hnt", str(report))
    kill_recorder({**options, "order": order}, report, patience_s=1000)
    assert (tmp_path / "t.hnt.partial").exists()


def test_interrupting_keeps_what_was_recorded(
    compiled: Builder, interrupt_recorder: Callable[..., None], qemu: Qemu, tmp_path: Path
) -> None:
    interrupt_recorder(_options(qemu, compiled("endless.c"), tmp_path / "t.hnt"))
    assert hn.Trace.open(tmp_path / "t.hnt").references > 1000

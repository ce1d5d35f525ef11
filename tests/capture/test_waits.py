"""Waits with time-outs, waits that only the kernel can end, and signals that end them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from homenode import capture_plugin

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Recording

PROGRAMS = Path(__file__).parent / "programs"


def _emulated(machine: str, source: str, target: Path) -> Path:
    compiler = "gcc" if machine == "x86_64" else f"{machine}-linux-gnu-gcc"
    if shutil.which(compiler) is None or shutil.which(f"qemu-{machine}") is None:
        pytest.skip(f"{compiler} or qemu-{machine} is not installed")
    line = [compiler, "-O1", "-w", str(PROGRAMS / source), "-o", str(target), "-pthread"]
    subprocess.run(line, check=True)
    return target


def _options(machine: str) -> dict[str, Any]:
    options = {"via": "qemu", "plugin": str(capture_plugin.plugin())}
    return options if machine == "x86_64" else {**options, "sysroot": f"/usr/{machine}-linux-gnu"}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64"])
def test_an_event_loop_repeats(
    record: Callable[..., Recording], tmp_path: Path, machine: str
) -> None:
    program = _emulated(machine, "events.c", tmp_path / "events")
    one, two = (record(program, **_options(machine)) for _ in "12")
    lines = one.out.splitlines()
    assert lines[:2] == ["poll 0 ppoll 0 select 0 0 left 0 epoll 0 0", "took 1"]
    assert lines[2].startswith("server ")
    assert lines[2].endswith(" 30 bytes")
    assert lines[3:] == [
        *["read 0"] * 4,
        "sent 4 of 4",
        "flock 0 fcntl 0 message 8 message semaphore 0 again -1 1",
        "connect 0 hello",
        "poll -1 1 ppoll -1 1",
    ]
    assert one.out == two.out
    assert one.path.read_bytes() == two.path.read_bytes()
    assert (one.summary["outside_waits"], one.summary["forced_turns"]) == (0, 0)


def test_signals_end_waits(
    build: Callable[..., Path], record: Callable[..., Recording], natively: Callable[..., str]
) -> None:
    program = build("alarms.c")
    assert record(program).out == natively(program)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64"])
def test_signals_end_waits_in_the_emulator(
    record: Callable[..., Recording], tmp_path: Path, machine: str
) -> None:
    program = _emulated(machine, "alarms.c", tmp_path / "alarms")
    native = _emulated("x86_64", "alarms.c", tmp_path / "native")
    done = subprocess.run([native], capture_output=True, text=True, check=True)
    made = record(program, **_options(machine))
    assert made.out == done.stdout
    # The timer is a real one.
    assert "repeatable" not in made.metadata()["order"]

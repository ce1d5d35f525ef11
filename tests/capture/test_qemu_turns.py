"""User-level switching of the threads of unmodified programs, and their signals."""

from __future__ import annotations

import platform
import resource
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Builder, Recorder
    from support.command import Printed


X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere the kernel switches")

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


@X86
def test_a_turn_needs_no_switch_by_the_kernel(
    compiled: Builder, emulate: Recorder, natively: Printed
) -> None:
    """A switch by the kernel would be a sleep; with the shortest turns no switch is forced."""
    program = compiled("own_thread.c", "-lm")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    first = emulate(program, quantum=1)
    switches = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
    assert first.out == natively(program)
    assert first.summary["references"] > 200_000
    assert switches < first.summary["references"] / 20
    assert first.summary["forced_turns"] == 0
    assert first.path.read_bytes() == emulate(program, quantum=1).path.read_bytes()


@pytest.mark.parametrize("quantum", [2, 100])
@pytest.mark.parametrize("how", ["faults", "threads", "timer"])
def test_a_signal_comes_to_the_thread_that_it_is_for(
    compiled: Builder, emulate: Recorder, how: str, quantum: int
) -> None:
    """Signals from faults, other threads, and timers, blocked in all threads but one."""
    program = compiled("signals_between.c")
    made = emulate(program, how, quantum=quantum)
    count = 0 if how == "timer" else 240
    assert made.out == f"{how}: {count}, in the right threads\n"
    assert made.summary["forced_turns"] == 0
    if how == "faults":
        again = emulate(program, how, quantum=quantum)
        assert made.path.read_bytes() == again.path.read_bytes()


def test_threads_go_on_while_one_computes_without_end(compiled: Builder, emulate: Recorder) -> None:
    """A thread may do so where another must call the kernel, or end."""
    made = emulate(compiled("spins_elsewhere.c"), quantum=10)
    assert made.out == "sum 10\n"
    assert made.summary["forced_turns"] >= 1

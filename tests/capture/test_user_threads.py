"""User-level threads, and the state that nevertheless belongs to the kernel thread."""

from __future__ import annotations

import platform
import resource
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Builder, Recorder

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere the kernel switches")


@pytest.mark.parametrize("quantum", [1, 100])
def test_a_thread_keeps_what_is_its_own(build: Builder, record: Recorder, quantum: int) -> None:
    """Number, name, rounding, errno, time."""
    program = build("own_thread.c", "-lm")
    first, second = (record(program, quantum=quantum) for _ in range(2))
    assert first.out == second.out == "own\n"
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.summary["order"] == f"deterministic quantum={quantum} repeatable"


@pytest.mark.parametrize("quantum", [1, 100])
def test_also_beside_a_child_and_with_a_handler(
    build: Builder, record: Recorder, quantum: int
) -> None:
    """With the first handler all threads return; how far they get before a child ends varies."""
    recording = record(build("own_thread.c", "-lm"), "more", quantum=quantum)
    assert recording.out == "own\n"
    assert recording.summary["order"].endswith("sequentially consistent")
    assert recording.summary["forced_turns"] == 0


def test_threads_end_while_one_is_stuck_in_the_kernel(build: Builder, record: Recorder) -> None:
    """A thread ends where it began: on a kernel thread that the stuck one may occupy."""
    recording = record(build("stuck_elsewhere.c"), quantum=10)
    assert recording.out == "sum 10, read 3\n"
    assert recording.summary["forced_turns"] >= 1


@X86
def test_a_turn_needs_no_switch_by_the_kernel(build: Builder, record: Recorder) -> None:
    """A switch by the kernel would be a sleep."""
    program = build("own_thread.c", "-lm")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    recording = record(program, quantum=1)
    switches = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
    assert recording.summary["references"] > 200_000
    assert switches < recording.summary["references"] / 20

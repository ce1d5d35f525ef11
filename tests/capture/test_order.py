"""Guarantees about the order of a recording."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder, Recording
    from support.command import Printed

READ, WRITE, ATOMIC = 0, 1, 2


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("pthreads.c", []),
        ("racy.c", []),
        ("many.c", ["64"]),
        ("reuse.c", []),
        ("pipes.c", []),
        ("sleeps.c", []),
        ("spin.c", []),
        ("c11.c", []),
        ("openmp.c", []),
    ],
)
def test_two_deterministic_recordings_are_the_same_bytes(
    build: Builder, record: Recorder, source: str, words: list[str]
) -> None:
    program = build(source, "-fopenmp") if source == "openmp.c" else build(source)
    threads = {"OMP_NUM_THREADS": "4"}
    one = record(program, *words, environment=threads)
    two = record(program, *words, environment={**threads, "A_VARIABLE": "x" * 333})
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.summary["forced_turns"] == 0
    assert one.summary["references"] > 0


def test_neither_environment_nor_folder_changes_a_recording(
    build: Builder, record: Recorder, tmp_path: Path
) -> None:
    program = build("arguments.c")
    words = ["-n", "12", "--a-longer-word", "x"]
    one = record(program, *words)
    assert one.out.endswith(" 0 added\n")
    several = [
        {"HN_TEST": "y"},
        {"HN_TEST": 333 * "y", "HN_OTHER": ""},
        {f"HN_TEST_{number}": number * "y" for number in range(20)},
    ]
    for environment in several:
        again = record(program, *words, environment=environment)
        assert again.out == one.out, environment
        assert again.path.read_bytes() == one.path.read_bytes(), environment
    for name in ("p", "a-program", "another-name-of-the-program"):
        folder = tmp_path / f"{name}-folder"
        folder.mkdir()
        again = record(shutil.copy2(program, folder / name), *words)
        assert again.out == one.out, name
        assert again.summary["checksum"] == one.summary["checksum"], name


def _replay(recording: Recording, name: str) -> dict[int, list[int]]:
    """The values that each thread read from the first word of an object, by the recorded order.

    A value is the number of the write before it, counted per thread, as in the program.
    """
    word = recording.touching(name)
    last, writes = 0, [0] * 8
    reads: dict[int, list[int]] = {}
    first = word["addr"] == recording.symbol(name)[0]
    threads, kinds = word["thread"][first].tolist(), word["kind"][first].tolist()
    for thread, kind in zip(threads, kinds, strict=True):
        worker = thread - 1
        if kind == WRITE:
            writes[worker] += 1
            last = worker * 300 + writes[worker]
        elif worker >= 0:
            reads.setdefault(worker, []).append(last)
    return reads


@pytest.mark.parametrize("hooks", ["assembly", "compiler"])
@pytest.mark.parametrize("quantum", [1, 7, 100])
def test_recorded_order_is_the_order_of_execution(
    build: Builder, record: Recorder, quantum: int, hooks: str
) -> None:
    """Racing threads print what they read; the recording must explain every value."""
    program = build("racy.c", environment={"HOMENODE_HOOKS": hooks})
    recording = record(program, quantum=quantum)
    said = [[int(word) for word in line.split()] for line in recording.out.splitlines()]
    words, counters = _replay(recording, "word"), recording.touching("counter")
    for worker in range(4):
        assert words[worker] == [line[1] for line in said if line[0] == worker]
        order = [i for i, t in enumerate(counters["thread"].tolist()) if t == worker + 1]
        assert order == [line[2] for line in said if line[0] == worker]
    # memcpy reads the first word by one reference, and writes it by one.
    assert _replay(recording, "block") == {
        worker: [line[3] for line in said if line[0] == worker] for worker in range(4)
    }
    # Turns are interleaved finely, not one thread after the other.
    assert len({worker for worker, *_ in said}) == 4
    switches = (counters["thread"][1:] != counters["thread"][:-1]).sum()
    assert switches > 10 * 4 / quantum


@pytest.mark.parametrize("order", ["deterministic", "logical", "free"])
def test_a_lock_orders_what_it_protects(build: Builder, record: Recorder, order: str) -> None:
    """A program without races is recorded in a legal order even when its threads run freely."""
    recording = record(build("locked.c"), order=order, quantum=1000)
    counter = recording.touching("counter")
    writers = counter["thread"][counter["kind"] == WRITE] - 1
    assert "".join(str(w) for w in writers.tolist()) == recording.out.strip()
    acquired = [words for words in recording.events() if words[1] == "lock-acquire"]
    assert len(acquired) == 4 * 2000


@pytest.mark.parametrize("source", ["pthreads.c", "cancel.c", "pipes.c", "reuse.c", "many.c"])
def test_free_order_leaves_the_program_as_it_is(
    build: Builder, record: Recorder, natively: Printed, source: str
) -> None:
    recording = record(build(source), order="free")
    assert recording.out == natively(build(source))
    assert recording.metadata()["order"] == "free stamp=100"


def test_sixty_four_threads(build: Builder, record: Recorder, natively: Printed) -> None:
    program = build("many.c")
    recording = record(program, "64")
    assert recording.summary["threads"] == 65
    assert recording.out == natively(program, "64")
    threads = recording.columns()["thread"]
    assert sorted(set(threads.tolist())) == list(range(65))


def test_user_level_spinning_ends(build: Builder, record: Recorder, natively: Printed) -> None:
    """Every read of the flag is a reference, so the quantum expires."""
    recording = record(build("spin.c"))
    assert recording.out == natively(build("spin.c"))
    assert recording.summary["forced_turns"] == 0


def test_thread_numbers_are_used_again(build: Builder, record: Recorder) -> None:
    """Twenty times eight workers, then a detached thread: nine numbers with main's."""
    recording = record(build("reuse.c"))
    assert recording.summary["threads"] == 9
    starts = [words for words in recording.events() if words[1] == "thread-start"]
    assert len(starts) == 1 + 20 * 9
    assert recording.summary["lost_threads"] == 0


def test_time_is_virtual_and_long_enough(build: Builder, record: Recorder) -> None:
    recording = record(build("sleeps.c"))
    assert recording.out == "1 1\n"

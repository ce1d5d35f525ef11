"""Logical order: threads run in parallel, and the trace of a program without races repeats."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import homenode as hn

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder, Recording
    from support.command import Command, Printed

WRITE = 1
# The references that a thread makes alone between barriers: the same in every order.
_OWN_WRITES = 3 * 4 * 500


@pytest.mark.parametrize("quantum", [1, 100])
@pytest.mark.parametrize(
    ("source", "words", "flags"),
    [
        ("pthreads.c", [], []),
        ("pthreads.c", [], ["-static"]),
        ("parallel.c", [], []),
        ("many.c", ["64"], []),
        ("reuse.c", [], []),
        ("pipes.c", [], []),
        ("spin.c", [], []),
        ("c11.c", [], []),
        ("conditions.c", [], []),
        ("modern.cpp", [], ["-std=c++20"]),
        ("initialised.cpp", [], ["-std=c++20"]),
        ("openmp.c", [], ["-fopenmp"]),
        ("openmp.c", [], ["-fopenmp", "-static"]),
    ],
)
def test_a_program_without_races_repeats(
    build: Builder,
    record: Recorder,
    natively: Printed,
    source: str,
    words: list[str],
    flags: list[str],
    quantum: int,
) -> None:
    program = build(source, *flags)
    threads = {"OMP_NUM_THREADS": "4"}
    options = {"order": "logical", "quantum": quantum}
    one = record(program, *words, environment=threads, **options)
    # On one processor threads do not run at the same time.
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        two = record(program, *words, environment=threads, **options)
    finally:
        os.sched_setaffinity(0, allowed)
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.summary["races"] == []
    assert one.metadata()["order"] == f"logical quantum={quantum} repeatable"
    # With as many threads as processors, the message differs.
    if source != "openmp.c":
        assert one.out == natively(program, *words)


@pytest.mark.parametrize("quantum", [1, 100, 1000])
@pytest.mark.parametrize("source", ["locked.c", "pthreads.c"])
def test_a_lock_has_one_holder_at_a_time(
    build: Builder, record: Recorder, source: str, quantum: int
) -> None:
    recording = record(build(source), order="logical", quantum=quantum)
    if source == "locked.c":
        counter = recording.touching("counter")
        writers = counter["thread"][counter["kind"] == WRITE] - 1
        assert "".join(str(w) for w in writers.tolist()) == recording.out.strip()
    holders: dict[str, str] = {}
    mutex, _ = recording.symbol("mutex")
    events = [words for words in recording.events() if words[1].startswith("lock-")]
    taken = 0
    for thread, what, addr, *_ in events:
        if int(addr, 0) != mutex:
            continue
        if what == "lock-acquire":
            assert addr not in holders
            holders[addr] = thread
            taken += 1
        else:
            assert holders.pop(addr) == thread
    assert taken > 100


def _switches(recording: Recording) -> int:
    """How often the thread changes among the writes to data that belong to one thread each."""
    own = recording.touching("own")
    threads = own["thread"][own["kind"] == WRITE]
    assert len(threads) == _OWN_WRITES
    return int((threads[1:] != threads[:-1]).sum())


def test_references_are_merged_one_by_one(build: Builder, record: Recorder) -> None:
    """After a barrier, threads make one reference each in turn, or one quantum each."""
    program = build("parallel.c")
    fine, coarse = (record(program, order="logical", quantum=quantum) for quantum in (1, 250))
    assert _switches(fine) > _OWN_WRITES * 0.9
    assert _switches(coarse) < _OWN_WRITES / 100
    assert fine.out == coarse.out


def test_races_are_named(build: Builder, record: Recorder) -> None:
    recording = record(build("racy.c"), order="logical")
    assert recording.summary["races"]
    assert all(place.startswith("racy.c:") for place in recording.summary["races"])
    order = recording.metadata()["order"]
    assert order.startswith("logical quantum=100, one of several: races at racy.c:")
    assert order == recording.summary["order"]
    assert "repeatable" not in order


def test_the_summary_reports_races(program: Command, build: Builder, tmp_path: Path) -> None:
    line = ["record", "--order", "logical", "-o", tmp_path / "t.hnt", "--"]
    said = program(*line, build("racy.c")).err
    assert "this program races at racy.c:" in said
    assert "the order is one of several" in said
    assert "races at" not in program(*line, build("parallel.c")).err


def test_signals_and_kills_are_not_repeatable(build: Builder, record: Recorder) -> None:
    made = record(build("frequent_signals.c"), order="logical")
    assert made.out == "1000 waits ended\n"
    assert made.summary["signals"] > 0
    assert "repeatable" not in made.metadata()["order"]
    killed = record(build("endings.c"), "kill", order="logical")
    assert "repeatable" not in killed.metadata()["order"]


@pytest.mark.parametrize("how", ["return", "exit", "_exit", "abort"])
def test_the_end_of_the_program_repeats_though_threads_were_running(
    build: Builder, record: Recorder, how: str
) -> None:
    one, two = (record(build("endings.c"), how, order="logical") for _ in range(2))
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.metadata()["order"].endswith(" repeatable")
    assert len(one.touching("other")["addr"]) > 0


def test_python_records_in_logical_order(build: Builder, tmp_path: Path) -> None:
    program = str(build("parallel.c"))
    trace = hn.Trace.record([program], tmp_path / "t.hnt", order="logical", quantum=1)
    assert trace.metadata["order"] == "logical quantum=1 repeatable"
    with pytest.raises(hn.ConfigError, match="seed: expected 0, or --order deterministic"):
        hn.Trace.record([program], tmp_path / "u.hnt", order="logical", seed=3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seed", "3"], "--order deterministic"),
        (["--repeat", "2"], "--order deterministic"),
        (["--via", "qemu"], "--via cc"),
    ],
)
def test_options_that_logical_order_lacks_are_refused(
    homenode: Command, build: Builder, tmp_path: Path, words: list[str], said: str
) -> None:
    line = ["record", "--order", "logical", *words, "-o", tmp_path / "t.hnt"]
    made = homenode(*line, "--", build("parallel.c"))
    assert made.code == 2
    assert said in made.err
    assert list(tmp_path.iterdir()) == []


def test_several_quanta_are_several_orders(
    homenode: Command, build: Builder, tmp_path: Path
) -> None:
    line = ["record", "--order", "logical", "--quantum", "1,50", "-o", tmp_path / "t.hnt"]
    assert homenode(*line, "--", build("parallel.c")).code == 0
    fine, coarse = (hn.Trace.open(tmp_path / f"t.q{quantum}.s0.hnt") for quantum in (1, 50))
    # A thread that waits for a lock tries again: how often depends on the order.
    own = [of.references - of.info["sync"] for of in (fine, coarse)]
    assert own[0] == own[1]
    assert fine.checksum != coarse.checksum
    assert "logical quantum=50 repeatable" in homenode("info", coarse.path).out

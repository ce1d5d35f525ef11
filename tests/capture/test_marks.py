"""Marks in a program, and what the recorder finds out about its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Builder, Recorder
    from support.command import Printed

PRIVATE, SYNC = 1, 2


@pytest.mark.parametrize("flags", [[], ["-static"]])
def test_marks_and_private_memory(
    build: Builder, record: Recorder, natively: Printed, flags: list[str]
) -> None:
    program = build("marks.c", *flags)
    recording = record(program)
    assert recording.out == natively(program) == "1 9\n"
    events = recording.events()
    named = [words[1:] for words in events if words[1] in ("init-done", "phase", "marker")]
    assert named[0] == ["init-done"]
    assert named[1] == ["phase", "7"]
    assert " ".join(named[2][1:]).startswith("a phase of its own, with a name that is longer")
    declared = recording.touching("declared")
    assert declared["flags"].tolist() == [PRIVATE]
    assert set(recording.touching("shared_array")["flags"].tolist()) == {0}
    # The thread's own storage is private; its array on the stack too.
    columns = recording.columns()
    worker = columns["thread"] == 1
    assert int((columns["flags"][worker] == PRIVATE).sum()) >= 1
    kinds = {r["kind"] for r in recording.metadata()["ranges"] if r["thread"] == 1}
    assert kinds >= {"stack", "thread-local"}


def test_a_stack_that_is_lent_is_no_longer_private(build: Builder, record: Recorder) -> None:
    recording = record(build("marks.c"))
    columns = recording.columns()
    stack = next(
        r for r in recording.metadata()["ranges"] if r["kind"] == "stack" and r["thread"] == 0
    )
    on_stack = (columns["addr"] >= stack["start"]) & (
        columns["addr"] < stack["start"] + stack["size"]
    )
    by_other = on_stack & (columns["thread"] == 1)
    assert by_other.sum() == 1
    lent = columns["addr"][by_other][0] // 64
    when = by_other.nonzero()[0][0]
    for row in on_stack.nonzero()[0]:
        same = columns["addr"][row] // 64 == lent
        private = bool(columns["flags"][row] & PRIVATE)
        if columns["thread"][row] == 0:
            assert private == (not same or row < when)


def test_heap_blocks_have_their_call_site(build: Builder, record: Recorder) -> None:
    recording = record(build("marks.c"))
    metadata = recording.metadata()
    lines = {line["pc"]: line for line in metadata["lines"]}
    blocks = [r for r in metadata["ranges"] if r["kind"] == "heap" and r["size"] == 8000]
    assert len(blocks) == 1
    site = lines[blocks[0]["site"]]
    assert site["function"] == "main"
    assert site["file"].endswith("marks.c")
    assert site["line"] > 0
    allocations = [words for words in recording.events() if words[1] in ("alloc", "free")]
    assert any(words[1] == "alloc" and words[3] == "8000" for words in allocations)
    assert allocations[-1][1] == "free"


def test_pthread_objects_are_synchronisation_variables(build: Builder, record: Recorder) -> None:
    recording = record(build("pthreads.c"))
    for name in ("mutex", "rwlock", "turned", "barrier", "spin", "items"):
        touched = recording.touching(name)
        assert len(touched["addr"]) > 0, name
        assert set(touched["flags"].tolist()) == {SYNC}, name
    assert set(recording.touching("by_mutex")["flags"].tolist()) == {0}


def test_metadata_says_how_the_trace_came_to_be(build: Builder, record: Recorder) -> None:
    program = build("racy.c")
    recording = record(program, quantum=50)
    metadata = recording.metadata()
    assert metadata["program"] == str(program)
    assert metadata["method"] == "cc"
    assert metadata["order"] == "deterministic quantum=50 repeatable"
    assert metadata["exit_code"] == 0
    # The duration of a run always differs, so only the summary has it.
    assert "wall_time_s" not in metadata
    assert recording.summary["wall_time_s"] > 0

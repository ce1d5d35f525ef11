"""With hooks an operation on a lock has the references that the C library's code makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from homenode import _core

if TYPE_CHECKING:
    from conftest import Builder, Recorder, Recording

_OBJECT_BYTES = 64
Operations = list[tuple[str, list[str]]]


def _operations(recording: Recording) -> Operations:
    """Of each marked operation its name, and what it accesses: kind, offset and size."""
    begin, size = recording.out.split()
    low = int(begin, 16)
    high = low + int(size)
    text = recording.path.with_suffix(".txt")
    _core.export_trace(str(recording.path), "text", str(text), None)
    done: Operations = []
    running: dict[str, list[str]] = {}
    for line in text.read_text().splitlines():
        words = line.split()
        if line.startswith("@") and words[2] == "marker":
            name = " ".join(words[3:])
            if name == "end":
                running.pop(words[1])
            else:
                running[words[1]] = []
                done.append((name, running[words[1]]))
        elif not line.startswith(("@", "#")) and words[0] in running:
            addr = int(words[2], 16)
            if low <= addr < high:
                running[words[0]].append(f"{words[1]}{(addr - low) % _OBJECT_BYTES}:{words[3]}")
    return done


@pytest.mark.parametrize("order", ["deterministic", "logical", "free"])
def test_operations_have_the_references_of_the_library(
    build: Builder, compiled: Builder, record: Recorder, emulate: Recorder, order: str
) -> None:
    seen = _operations(record(build("lock_fields.c", "-fopenmp"), order=order))
    made = _operations(emulate(compiled("lock_fields.c", "-fopenmp")))
    if order == "free":  # which thread is the last at the barrier depends on time
        seen, made = ([one for one in of if "barrier" not in one[0]] for of in (seen, made))
    else:
        assert ("normal", ["A0:4", "R16:4", "R16:4", "R8:4", "R12:4", "W12:4", "W8:4"]) in seen
    # The word that takes a lock comes first with hooks.
    seen, made = ([(name, sorted(refs)) for name, refs in of] for of in (seen, made))
    assert seen == made


@pytest.mark.parametrize("order", ["deterministic", "logical"])
@pytest.mark.parametrize("quantum", [1, 3, 100])
def test_no_turn_ends_within_an_operation(
    build: Builder, record: Recorder, order: str, quantum: int
) -> None:
    """The mutex's references come in whole operations, each by one thread."""
    recording = record(build("locked.c"), order=order, quantum=quantum)
    mutex = recording.touching("mutex")
    start, _ = recording.symbol("mutex")
    steps = list(zip(mutex["thread"], mutex["kind"], (mutex["addr"] - start).tolist(), strict=True))
    unlock = [(0, 16), (1, 8), (0, 12), (1, 12), (0, 16), (2, 0)]
    kinds = [(kind, field) for _, kind, field in steps]
    releases = [at for at in range(len(steps)) if kinds[at : at + 6] == unlock]
    assert len(releases) == kinds.count((1, 8)) / 2
    for at in releases:
        assert len({thread for thread, _, _ in steps[at : at + 6]}) == 1
    assert (mutex["flags"] & 2 != 0).all()

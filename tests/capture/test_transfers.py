"""Data that system calls transfer are references of the thread that makes the call."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import homenode as hn

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Builder, Recorder, Recording

_BYTES, _WORD, _PAGE = 4 * 4096, 8, 4096
_WORDS_OF_HALF = _BYTES // 2 // _WORD
_READ, _WRITE, _TRANSFER = 0, 1, 8
# Where each way of reading begins a new buffer or call.
_CUTS = {
    "read": [10_000],
    "pread": [],
    "readv": [100],
    "preadv": [100],
    "fread": [],
    "recv": [],
    "recvmsg": [100],
}
_ORDERS = ("deterministic", "logical", "free")


def _pieces(size: int, cuts: list[int]) -> list[tuple[int, int]]:
    """Offset and size of the pieces of a transfer to a buffer that begins a line."""
    ends = sorted({*range(64, size, 64), *cuts, size})
    return [(begin, end - begin) for begin, end in zip([0, *ends], ends, strict=False)]


@pytest.fixture
def file(tmp_path: Path) -> str:
    made = tmp_path / "data.bin"
    made.write_bytes(bytes(range(256)) * (_BYTES // 256))
    return str(made)


def _transfers(made: Recording, name: str) -> list[tuple[int, int, int, int]]:
    """Thread, kind, offset and size of the transfers in a static object."""
    start, _ = made.symbol(name)
    found = made.touching(name)
    chosen = {c: v[found["flags"] & _TRANSFER != 0].tolist() for c, v in found.items()}
    assert all(flags == _TRANSFER for flags in chosen["flags"])
    rows = zip(chosen["thread"], chosen["kind"], chosen["addr"], chosen["size"], strict=True)
    return [(thread, kind, addr - start, size) for thread, kind, addr, size in rows]


def _written(how: str) -> list[tuple[int, int, int, int]]:
    return [(0, _WRITE, at, size) for at, size in _pieces(_BYTES, _CUTS[how])]


@pytest.mark.parametrize("order", ["deterministic", "logical"])
def test_what_a_call_did_while_its_baton_was_taken_is_recorded(
    build: Builder, record: Recorder, tmp_path: Path, order: str
) -> None:
    """The watchdog takes it from a thread that sleeps in a library."""
    os.mkfifo(tmp_path / "fifo")
    made = record(build("sleeping_calls.c"), str(tmp_path / "fifo"), order=order)
    assert made.out == "128\n0\n"
    assert made.summary["forced_turns"] >= 2
    assert _transfers(made, "buffer") == [(0, _WRITE, 0, 64), (0, _WRITE, 64, 64)]
    assert [words[1] for words in made.events()].count("fork") == 1


@pytest.mark.parametrize("how", _CUTS)
def test_the_bytes_that_a_call_returns_are_written_by_its_thread(
    build: Builder, record: Recorder, file: str, how: str
) -> None:
    made = record(build("file_halves.c"), file, how)
    assert made.summary["exit_code"] == 0
    assert _transfers(made, "buffer") == _written(how)
    # Thread 0 only fills the buffer, and does so before the two read it.
    threads = made.touching("buffer")["thread"].tolist()
    filled = len(_written(how))
    assert threads[:filled] == [0] * filled
    assert sorted(threads[filled:]) == [1] * _WORDS_OF_HALF + [2] * _WORDS_OF_HALF
    # What is sent is read: as much as is sent, not as is received.
    sent = _BYTES + 64 if how.startswith("recv") else 0
    taken = [(0, _READ, at, size) for at, size in _pieces(sent, [])] if sent else []
    assert _transfers(made, "source") == taken


def test_a_transfer_has_the_line_of_the_call_and_lies_between_its_events(
    build: Builder, record: Recorder, file: str
) -> None:
    made = record(build("file_halves.c"), file, "pread")
    pcs = {int(pc) for pc in made.touching("buffer")["pc"][:256]}
    lines = {one["pc"]: one for one in made.metadata()["lines"]}
    source = (Path(__file__).parent / "programs" / "file_halves.c").read_text().splitlines()
    assert ["pread(fd" in source[lines[pc]["line"] - 1] for pc in pcs] == [True]
    text = made.path.with_suffix(".txt")
    hn.Trace.open(made.path).export(text)
    rows = text.read_text().splitlines()
    (enter,) = (i for i, row in enumerate(rows) if row == "@ 0 syscall-enter 17")
    (leave,) = (i for i, row in enumerate(rows) if row == "@ 0 syscall-exit 17")
    assert ["flags=transfer" in row for row in rows[enter + 1 : leave]] == [True] * 256


@pytest.mark.parametrize("order", _ORDERS)
def test_every_order_records_them(build: Builder, record: Recorder, file: str, order: str) -> None:
    program = build("file_halves.c")
    one, two = (record(program, file, "read", order=order) for _ in "12")
    assert _transfers(one, "buffer") == _written("read")
    if order != "free":
        assert one.path.read_bytes() == two.path.read_bytes()


def _counts(made: Recording, kernel: str | None) -> tuple[int, int]:
    """Local and remote references of the buffer under first touch, with two processors."""
    start, size = made.symbol("buffer")
    chosen: dict[str, Any] = {"address": f"{start}-{start + size}"}
    if kernel is not None:
        chosen["kernel"] = kernel
    part = hn.transform("select", made.path, **chosen)
    row = hn.simulate(part, "spr-2s", "first-touch", _PAGE, filter="none", processors=2).rows[0]
    counts = row["counts"]
    local = counts["local_reads"] + counts["local_writes"]
    return local, counts["remote_reads"] + counts["remote_writes"]


def test_first_touch_places_a_page_where_the_call_was_made(
    build: Builder, record: Recorder, file: str
) -> None:
    """Thread 0 and 2 run on processor 0, thread 1 on processor 1.

    Thread 0 writes 257 pieces (10,000 bytes: 157, the other 6,384, from the 17th byte of a line:
    100), all local. Thread 2 reads 1,024 words of them, local too; thread 1 1,024, all remote.
    """
    made = record(build("file_halves.c"), file, "read")
    assert _counts(made, None) == (257 + 1024, 1024)
    assert _counts(made, "without") == (2048, 0)
    assert hn.Trace.open(made.path).info["kernel"] == 257


def test_a_call_may_race_with_other_threads(build: Builder, record: Recorder, file: str) -> None:
    made = record(build("racing_read.c"), file, order="logical")
    assert made.summary["races"] == ["racing_read.c:13"]


def test_elements_are_read_and_written_by_bytes(
    build: Builder, record: Recorder, natively: Callable[..., str], tmp_path: Path
) -> None:
    """Of 10 bytes `fread` returns one element of 7, and has written all."""
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"0123456789")
    made = record(build("file_parts.c"), str(source), str(target))
    assert made.out == natively(build("file_parts.c"), str(source), str(target)) == "1 2\n"
    assert target.read_bytes() == b"0123456789"
    assert _transfers(made, "input") == [(0, _WRITE, 0, 10)]
    assert _transfers(made, "output") == [(0, _READ, 0, 10)]


@pytest.mark.parametrize("order", _ORDERS)
def test_calls_that_return_at_once_do_not_wait(
    build: Builder, record: Recorder, natively: Callable[..., str], order: str
) -> None:
    program = build("at_once.c")
    made = record(program, order=order)
    assert made.out == natively(program)
    # The sent bytes were discarded.
    assert _transfers(made, "kept") == []


@pytest.mark.parametrize("order", _ORDERS)
def test_calls_that_fail_at_once_do_not_wait(
    build: Builder, record: Recorder, natively: Callable[..., str], order: str
) -> None:
    """The descriptor is of the wrong kind, or in the wrong state."""
    program = build("fails_at_once.c")
    assert record(program, order=order).out == natively(program)


@pytest.mark.parametrize("order", _ORDERS)
def test_sets_that_the_program_cannot_read_are_refused(
    build: Builder, record: Recorder, natively: Callable[..., str], order: str
) -> None:
    """The runtime does not read them itself; times are refused and counted down as natively."""
    program = build("select_sets.c", "-w")
    assert record(program, order=order).out == natively(program)


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="QEMU is not installed")
@pytest.mark.parametrize("how", ["read", "preadv", "recvmsg"])
def test_emulation_records_the_same(
    compiled: Builder, emulate: Recorder, file: str, how: str
) -> None:
    made = emulate(compiled("file_halves.c"), file, how)
    assert _transfers(made, "buffer") == _written(how)
    assert not made.touching("buffer")["pc"][: len(_written(how))].any()
    if how == "read":
        assert _counts(made, None) == (257 + 1024, 1024)


@pytest.mark.parametrize("machine", ["aarch64", "riscv64"])
@pytest.mark.parametrize("how", ["preadv", "recvmsg"])
def test_other_machines_have_other_numbers(
    compiled: Builder, emulate: Recorder, file: str, machine: str, how: str
) -> None:
    program = compiled("file_halves.c", machine=machine)
    made = emulate(program, file, how, machine=machine, sysroot=f"/usr/{machine}-linux-gnu")
    assert _transfers(made, "buffer") == _written(how)
    assert np.sum(made.touching("buffer")["flags"] & _TRANSFER == 0) == 2 * _WORDS_OF_HALF


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="QEMU is not installed")
def test_calls_that_return_at_once_do_not_wait_under_emulation(
    compiled: Builder, emulate: Recorder, natively: Callable[..., str]
) -> None:
    program = compiled("at_once.c")
    made = emulate(program)
    assert made.out == natively(program)
    assert _transfers(made, "kept") == []


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="QEMU is not installed")
def test_calls_that_fail_at_once_do_not_wait_under_emulation(
    compiled: Builder, emulate: Recorder, natively: Callable[..., str]
) -> None:
    program = compiled("fails_at_once.c")
    assert emulate(program).out == natively(program)

"""Calls with lists of buffers or messages, and calls whose data need more room than there is."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Builder, Recorder, Recording

_READ, _WRITE, _TRANSFER = 0, 1, 8
_ORDERS = ("deterministic", "logical", "free")
_LARGE = 600_000
# What a call writes of a buffer of 160 bytes.
_OWN = [(0, _WRITE, 0, 64), (0, _WRITE, 64, 64), (0, _WRITE, 128, 32)]
# Ways to write more than a pipe or a stream holds.
_HOWS = (
    "write",
    "writev",
    "pwritev2",
    "send",
    "sendmsg",
    "sendmmsg",
    "write-socket",
    "writev-socket",
    "waitall",
)


def _transfers(made: Recording, name: str) -> Iterator[tuple[int, int, int, int]]:
    """Thread, kind, offset and size of the transfers in a static object."""
    start, _ = made.symbol(name)
    found = made.touching(name)
    chosen = found["flags"] & _TRANSFER != 0
    columns = [found[one][chosen].tolist() for one in ("thread", "kind", "addr", "size")]
    for thread, kind, addr, size in zip(*columns, strict=True):
        yield thread, kind, addr - start, size


def _check_messages(made: Recording) -> None:
    """Of 40 messages, one byte longer each."""
    pieces = [(128 * i, 64) for i in range(40)] + [(128 * i + 64, i) for i in range(1, 40)]
    for name, thread, kind in [("incoming", 0, _WRITE), ("outgoing", 1, _READ)]:
        found = [row for row in _transfers(made, name) if row[0] == thread]
        assert found == [(thread, kind, *piece) for piece in sorted(pieces)]


@pytest.mark.parametrize("how", _HOWS)
def test_a_large_write_lets_the_reader_run(
    build: Builder, record: Recorder, natively: Callable[..., str], how: str
) -> None:
    """The writer waits for room without the turn, and not until the watchdog takes it."""
    made = record(build("large_writes.c"), how)
    assert made.out == natively(build("large_writes.c"), how) == f"{_LARGE} {_LARGE} 0\n"
    assert made.summary["forced_turns"] == 0
    sent = list(_transfers(made, "sent"))
    assert {row[:2] for row in sent} == {(0, _READ)}
    assert sum(size for *_, size in sent) == _LARGE
    assert [at for *_, at, _ in sent] == sorted(at for *_, at, _ in sent)


@pytest.mark.parametrize("how", ["writev", "send"])
def test_a_large_write_is_recorded_alike_each_time(
    build: Builder, record: Recorder, how: str
) -> None:
    one, two = (record(build("large_writes.c"), how) for _ in "12")
    assert one.path.read_bytes() == two.path.read_bytes()


@pytest.mark.parametrize("order", _ORDERS)
def test_lists_of_buffers_are_those_before_the_call(
    build: Builder, record: Recorder, natively: Callable[..., str], order: str
) -> None:
    program = build("messages.c", "-w")
    made = record(program, order=order)
    assert made.out == natively(program)
    assert made.summary["forced_turns"] == 0
    _check_messages(made)
    # The data, of readv and of recvmsg, overwrite the list.
    assert list(_transfers(made, "own")) == _OWN * 2
    assert list(_transfers(made, "rest")) == [(0, _WRITE, 0, 32)] * 2
    assert list(_transfers(made, "copy")) == [(0, _WRITE, 0, 40)]
    assert [row for row in _transfers(made, "copied") if row[0] == 0] == [(0, _READ, 0, 40)]
    # By vmsplice, and by fwrite.
    assert sum(size for *_, size in _transfers(made, "flowing")) == 2 * 200_000


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="QEMU is not installed")
def test_lists_of_buffers_under_emulation(
    compiled: Builder, emulate: Recorder, natively: Callable[..., str]
) -> None:
    program = compiled("messages.c")
    made = emulate(program, "emulated")
    assert made.out == natively(program, "emulated")
    assert made.summary["forced_turns"] == 0
    _check_messages(made)
    assert list(_transfers(made, "own")) == _OWN


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="QEMU is not installed")
def test_a_large_message_lets_the_reader_run_under_emulation(
    compiled: Builder, emulate: Recorder
) -> None:
    made = emulate(compiled("large_writes.c"), "sendmsg")
    assert made.out == f"{_LARGE} {_LARGE} 0\n"
    assert made.summary["forced_turns"] == 0
    assert sum(size for *_, size in _transfers(made, "sent")) == _LARGE

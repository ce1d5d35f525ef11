"""Accesses that QEMU makes in other sizes than a processor: repeated instructions, wide atomics."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from homenode import _core

if TYPE_CHECKING:
    from conftest import Builder, Recorder, Recording

_OBJECTS = ("from", "to", "down", "q", "wide", "mark")
_KINDS = "RWAF"
_SYSROOT = "/usr/aarch64-linux-gnu"

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _accesses(made: Recording) -> list[tuple[str, str, int, int, int]]:
    """Kind, object, offset, size and gap of the references to the program's objects."""
    metadata = json.loads(_core.trace_metadata(str(made.path)))
    static = {r["name"]: r for r in metadata["ranges"] if r["kind"] == "static"}
    counted = made.summary["order"].startswith("deterministic")
    wanted = ["kind", "addr", "size", "gap" if counted else "size"]
    batches = list(_core.read_batches(str(made.path), sorted(set(wanted))))
    columns = [np.concatenate([batch[name] for batch in batches]).tolist() for name in wanted]
    found = []
    for kind, addr, size, gap in zip(*columns, strict=True):
        for name in _OBJECTS:
            offset = addr - static[name]["start"]
            if 0 <= offset < static[name]["size"] and _KINDS[kind] != "F":
                found.append((_KINDS[kind], name, offset, size, gap))
    return found


_COPY = [("R", "from", 10, 54), ("W", "to", 3, 61)]
_COPY += [(kind, name, at, 64) for at in (64, 128) for kind, name in (("R", "from"), ("W", "to"))]
_COPY += [("R", "from", 192, 18), ("W", "to", 192, 11)]
_FILL = [("W", "q", 8, 56), ("W", "q", 64, 64), ("W", "q", 128, 40)]
_DOWN = [("R", "from", 128, 23), ("W", "down", 128, 23), ("R", "from", 64, 64)]
_DOWN += [("W", "down", 64, 64), ("R", "from", 51, 13), ("W", "down", 51, 13)]
_ONE = [("W", "to", 0, 1)]
_PAIR = [("A", "wide", 0, 16)]
_MARK = [("W", "mark", 0, 4)]


@pytest.mark.parametrize("fetches", [False, True])
@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_pieces_are_those_of_a_processor(
    compiled: Builder, emulate: Recorder, order: str, fetches: bool
) -> None:
    made = emulate(compiled("string_instructions.c"), order=order, fetches=fetches)
    assert made.summary["exit_code"] == 0
    found = _accesses(made)
    parts = [_COPY, _FILL, _DOWN, [], _ONE, _PAIR]
    expected = [access for part in parts for access in (*_MARK, *part)] + _MARK
    assert [access[:4] for access in found[: len(expected)]] == expected
    if order == "free":
        return
    gaps = [access[4] for access in found]
    behind = {2: len(_COPY) + 1, 3: len(_COPY) + len(_FILL) + 2}
    # Directly behind a repeated instruction; one that repeats nothing is an instruction, too.
    for place in behind.values():
        assert (found[place][1], gaps[place]) == ("mark", 0)
    assert all(gap == 0 for gap in gaps[2 : len(_COPY) + 1])
    if fetches:
        return
    place = expected.index(("W", "to", 0, 1))
    assert gaps[place + 1] == 0


def test_a_repeated_instruction_is_fetched_once(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("string_instructions.c"), fetches=True)
    columns = made.columns()
    wanted = made.touching("from")
    copying = wanted["pc"][wanted["kind"] == 0][0]
    assert ((columns["kind"] == 3) & (columns["addr"] == copying)).sum() == 1


def _bytes_written(made: Recording, name: str) -> int:
    start, size = made.symbol(name)
    found = made.touching(name)
    written = np.zeros(size, dtype=bool)
    for kind, addr, length in zip(found["kind"], found["addr"], found["size"], strict=True):
        if kind == 1:
            written[addr - start : addr - start + length] = True
    return int(written.sum())


@pytest.mark.parametrize("flags", [(), ("-static",)])
@pytest.mark.parametrize("processor", ["", "cortex-a72", "neoverse-n1"])
def test_aarch64_programs_clear_and_copy_every_byte(
    compiled: Builder, emulate: Recorder, processor: str, flags: tuple[str, ...]
) -> None:
    program = compiled("clears.c", *flags, machine="aarch64")
    environment = {"QEMU_CPU": processor} if processor else {}
    made = emulate(program, machine="aarch64", sysroot=_SYSROOT, environment=environment)
    assert _bytes_written(made, "page") == 4096
    assert _bytes_written(made, "table") == 2400
    assert ("-cpu max,sve=off" in made.metadata()["tool"]) == (processor == "")
    if not processor:
        assert made.summary["unseen"] == 0


def test_accesses_of_sve_are_counted(compiled: Builder, emulate: Recorder) -> None:
    program = compiled("clears.c", machine="aarch64")
    made = emulate(program, machine="aarch64", sysroot=_SYSROOT, environment={"QEMU_CPU": "max"})
    written = _bytes_written(made, "table")
    # A copy of 24 bytes is a load and a store of SVE.
    assert (made.summary["unseen"] >= 200) == (written == 0)
    assert made.summary["unseen"] or written == 2400
    noted = [text for text in made.metadata()["provenance"] if "does not show" in text]
    assert len(noted) == (made.summary["unseen"] != 0)

"""Orders made from recordings: in a program without races, every read still sees the same write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import homenode as hn
from homenode import _core

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder

NONE = -1
_ATOMIC = 2


def _last_writes(path: Path) -> np.ndarray:
    """For every reference to shared memory, thread by thread, the write before it at its address.

    References are numbered thread by thread, so their numbers do not depend on the order.
    """
    batches = list(_core.read_batches(str(path), ["thread", "kind", "addr", "flags"]))
    columns = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    shared = columns["flags"] & 1 == 0
    thread, kind, addr = (columns[name][shared] for name in ("thread", "kind", "addr"))
    number = np.empty(len(thread), dtype=np.int64)
    number[np.argsort(thread, kind="stable")] = np.arange(len(thread))
    last: dict[int, int] = {}
    found = np.empty(len(thread), dtype=np.int64)
    rows: Any = zip(number.tolist(), kind.tolist(), addr.tolist(), strict=True)
    for own, what, where in rows:
        found[own] = last.get(where, NONE)
        if what != 0:
            last[where] = own
    # gcc's updates of OpenMP read plainly before they compare and exchange: after another write
    # they would try again.
    order = np.argsort(thread, kind="stable")
    kind, addr = kind[order], addr[order]
    tries = (kind[:-1] == 0) & (kind[1:] == _ATOMIC) & (addr[:-1] == addr[1:])
    found[:-1][tries] = NONE
    return found


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        *((f"{name}.c", ()) for name in ("locked", "pthreads", "reuse", "many", "c11", "pipes")),
        ("atomics.c", ()),
        ("cancel.c", ()),
        ("modern.cpp", ("-std=c++20",)),
        ("openmp.c", ("-fopenmp",)),
        ("tasks.c", ("-fopenmp",)),
    ],
)
def test_every_read_sees_the_write_it_saw(
    build: Builder, record: Recorder, source: str, flags: tuple[str, ...]
) -> None:
    recording = record(build(source, *flags))
    before = _last_writes(recording.path)
    for seed, quantum in ((1, 3), (2, 100)):
        made = hn.transform("reinterleave", recording.path, seed=seed, quantum=quantum)
        assert made.references == hn.Trace.open(recording.path).references
        differ = np.flatnonzero(_last_writes(made.path) != before)
        assert differ.size == 0, f"{differ.size} of {before.size} references"

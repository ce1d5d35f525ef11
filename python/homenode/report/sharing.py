"""The sharing map: which thread reads and writes which stretch of memory."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from homenode import _core
from homenode.columns import FLAG_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from homenode.trace import Trace

LINE_BYTES = 64
_LINE_SHIFT = 6
_MERGE_ROWS = 1 << 21
_FETCH = 3


@dataclass(frozen=True)
class SharingMap:
    """References by thread and stretch of touched memory, private references left out.

    Attributes:
        reads: counts, shape (threads, columns).
        writes: counts of writes and atomics, shape (threads, columns).
        first: first address of each column, shape (columns,).
        last: last line's address of each column, shape (columns,).
        names: the object at the start of each column, where the trace knows one.
        lines: touched lines of 64 bytes in all.
    """

    reads: NDArray[np.int64]
    writes: NDArray[np.int64]
    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    names: list[str]
    lines: int


def sharing_map(trace: Trace, columns: int = 144) -> SharingMap:
    """Counts who touches what, in one pass over the trace.

    Args:
        trace: the trace; its metadata has the names of address ranges.
        columns: how many stretches to divide the touched lines into, equally many lines each.

    Raises:
        TraceError: when the trace is damaged.
    """
    lines, threads, writing, counts = _count(str(trace.path), bool(trace.info["columns"]["flags"]))
    touched = np.unique(lines)
    width = min(columns, max(len(touched), 1))
    of_line = (np.arange(len(touched)) * width) // max(len(touched), 1)
    column = of_line[np.searchsorted(touched, lines)] if len(touched) else lines.astype(np.int64)
    height = int(threads.max()) + 1 if len(threads) else 1
    table = np.zeros((2, height, width), dtype=np.int64)
    np.add.at(table, (writing, threads, column), counts)
    starts = np.searchsorted(of_line, np.arange(width))
    ends = np.searchsorted(of_line, np.arange(width), side="right") - 1
    if not len(touched):
        touched, starts, ends = np.zeros(1, np.uint64), np.zeros(1, int), np.zeros(1, int)
    first = touched[starts] << np.uint64(_LINE_SHIFT)
    last = touched[ends] << np.uint64(_LINE_SHIFT)
    names = _names(first.tolist(), last.tolist(), trace.metadata.get("ranges", []))
    return SharingMap(table[0], table[1], first, last, names, len(of_line))


def _count(
    path: str, flagged: bool
) -> tuple[NDArray[np.uint64], NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Distinct (line, thread, written) with how often each occurs."""
    held: list[tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]]] = []
    waiting = 0
    wanted = ["thread", "kind", "addr", *(["flags"] if flagged else [])]
    for batch in _core.read_batches(path, wanted):
        kept = batch["kind"] != _FETCH
        if flagged:
            kept &= (batch["flags"] & FLAG_BITS["private"]) == 0
        lines = (batch["addr"][kept] >> np.uint64(_LINE_SHIFT)).astype(np.uint64)
        who = batch["thread"][kept].astype(np.uint32) * 2 + (batch["kind"][kept] != 0)
        held.append(_distinct(lines, who.astype(np.uint32), np.ones(len(lines), np.int64)))
        waiting += len(held[-1][0])
        if waiting > _MERGE_ROWS:
            held = [_merge(held)]
            waiting = 0
    lines, who, counts = _merge(held)
    return lines, (who >> 1).astype(np.int64), (who & 1).astype(np.int64), counts


def _merge(
    held: list[tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]]],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]]:
    if not held:
        return np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0, np.int64)
    lines, who, counts = (np.concatenate(parts) for parts in zip(*held, strict=True))
    return _distinct(lines, who, counts)


def _distinct(
    lines: NDArray[np.uint64], who: NDArray[np.uint32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int64]]:
    if not len(lines):
        return lines, who, counts
    order = np.lexsort((who, lines))
    lines, who, counts = lines[order], who[order], counts[order]
    fresh = np.ones(len(lines), dtype=bool)
    fresh[1:] = (lines[1:] != lines[:-1]) | (who[1:] != who[:-1])
    starts = np.flatnonzero(fresh)
    return lines[starts], who[starts], np.add.reduceat(counts, starts)


def _names(first: list[int], last: list[int], ranges: list[dict[str, Any]]) -> list[str]:
    """The named range that each column begins in, or that begins within it."""
    ordered = sorted(ranges, key=lambda entry: int(entry["start"]))
    starts = [int(entry["start"]) for entry in ordered]
    names = []
    for low, high in zip(first, last, strict=True):
        index = bisect_right(starts, high + LINE_BYTES - 1) - 1
        inside = index >= 0 and low < starts[index] + int(ordered[index]["size"])
        names.append(_label(ordered[index]) if inside else "")
    return names


def _label(entry: dict[str, Any]) -> str:
    name = str(entry.get("name") or "")
    return name or str(entry["kind"])

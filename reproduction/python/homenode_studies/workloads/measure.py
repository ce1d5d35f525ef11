"""Measures traces of workloads, as in table 2.1 of Bolosky's thesis."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from homenode.engines.picture import picture
from homenode.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from homenode.engines.picture import Progress

__all__ = ["mean", "measure", "without_pc"]

BYTES = ("bytes_per_reference", "bytes_per_reference_no_pc")


def measure(name: str, trace: Trace, progress: Progress = None) -> dict[str, Any]:
    """The numbers of one line of the table.

    Args:
        name: the program.
        trace: its trace, with program counters.
        progress: called with the work done and in all.

    Returns:
        ``references``, all of them; ``private``, those to private memory; ``read_share``, the share
        of reads among those that are neither private nor synchronisation; and the file's bytes per
        reference, with program counters and without.

    Raises:
        TraceError: when the trace is damaged.

    Source: Bolosky, thesis, table 2.1.
    """
    rows = picture(trace, stretches=1, slices=1, progress=progress).data["map"]["rows"]
    reads, writes = (sum(sum(row[kind]) for row in rows) for kind in ("reads", "writes"))
    bare = without_pc(trace)
    return {
        "name": name,
        "threads": trace.threads,
        "references": trace.references,
        "private": trace.info["private"],
        "read_share": reads / (reads + writes) if reads + writes else None,
        "bytes_per_reference": trace.bytes_per_reference,
        "bytes_per_reference_no_pc": bare.bytes_per_reference,
    }


def mean(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The means of both bytes per reference, with equal weight for every program.

    >>> mean([{"bytes_per_reference": 1.0, "bytes_per_reference_no_pc": 2.0}])
    {'bytes_per_reference': 1.0, 'bytes_per_reference_no_pc': 2.0}
    """
    return {name: sum(row[name] for row in rows) / len(rows) for name in BYTES}


def without_pc(trace: Trace, at_most: int | None = None) -> Trace:
    """The same references without program counters and events, as a temporary trace.

    Args:
        trace: the trace with program counters.
        at_most: take whole chunks from the beginning until they have this number of references; by
        default all.

    Raises:
        TraceError: when the trace is damaged.
    """
    batches = trace.batches()
    first = next(batches, None)
    if first is None:
        return trace
    kept = [name for name in first.schema.names if name != "pc"]

    def bare() -> Iterator[pa.RecordBatch]:
        taken = 0
        for batch in chain([first], batches):
            yield batch.select(kept)
            taken += batch.num_rows
            if at_most is not None and taken >= at_most:
                return

    schema = first.select(kept).schema
    return Trace.from_arrow(pa.RecordBatchReader.from_batches(schema, bare()))

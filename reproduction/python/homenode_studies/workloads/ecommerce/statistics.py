"""Tables 1 to 3 of the paper, of our own mixes."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from homenode import _core
from homenode.trace import Trace

Progress = Callable[[int, int | None], None] | None

__all__ = ["BLOCK_BYTES", "groups", "statistics"]

BLOCK_BYTES = 32
"""Block size of the tables."""


def groups(trace: Trace) -> dict[str, list[int]]:
    """Process numbers of a mix by name, with `all` last."""
    named: dict[str, list[int]] = {}
    for process in trace.metadata["processes"]:
        named.setdefault(process["names"][-1], []).append(process["pid"])
    return {**named, "all": [pid for pids in named.values() for pid in pids]}


def statistics(mix: Path, progress: Progress = None) -> list[dict[str, Any]]:
    """The footprint of each process of a mix, then sums by name, then the sum over all.

    Returns:
        Rows with ``name``, ``processes``, ``references`` (including fetches), ``kernel`` (its share
        of them), ``distinct_blocks`` and ``shared_blocks`` of 32 bytes, and as parts of all
        references ``code``, ``data``, ``writes``, ``shared`` (of data in shared blocks) and
        ``shared_writes``.
    """
    trace = Trace.open(mix)
    together = groups(trace)
    times = Counter(name for name, pids in together.items() for _ in pids)
    single = [
        (f"{name} {pid}", [pid]) for name, pids in together.items() if name != "all" for pid in pids
    ]
    several = [(name, pids) for name, pids in together.items() if times[name] > 1]
    wanted = single + several
    config = {
        "block_size": BLOCK_BYTES,
        "groups": [pids for _, pids in wanted],
        "kernel": True,
    }
    counts = json.loads(_core.footprint(str(mix), json.dumps(config), progress))
    return [_row(name, count) for (name, _), count in zip(wanted, counts, strict=True)]


def _row(name: str, count: dict[str, Any]) -> dict[str, Any]:
    references = max(1, count["references"])
    return {
        "name": name,
        "processes": count["processes"],
        "references": count["references"],
        "kernel": count["kernel"] / references,
        "distinct_blocks": count["distinct_blocks"],
        "code": count["fetches"] / references,
        "data": 1 - count["fetches"] / references,
        "writes": count["writes"] / references,
        "shared_blocks": count["shared_blocks"],
        "shared": count["shared_references"] / references,
        "shared_writes": count["shared_writes"] / references,
    }

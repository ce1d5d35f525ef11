"""Tables 1 to 3 of the paper, of our own mixes."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Progress = Callable[[int, int | None], None] | None

__all__ = ["BLOCK_BYTES", "PUBLISHED", "groups", "statistics"]

BLOCK_BYTES = 32
"""Block size of the tables."""

PUBLISHED: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "ec": {
        "apache2": (34311, 73.84, 26.16, 6.99, 1105),
        "postgres": (24141, 71.94, 28.06, 9.89, 5838),
        "ls": (5860, 80.23, 19.77, 5.79),
        "awk": (9876, 76.23, 23.77, 8.83),
        "cp": (5432, 77.21, 22.79, 8.88),
        "gzip": (7123, 82.32, 17.68, 2.77),
        "rm": (2655, 86.18, 13.82, 2.11),
        "all": (112183, 75.49, 24.51, 7.39, 6101),
    },
    "db": {
        "postgres": (259023, 72.82, 27.18, 10.12, 10515),
        "all": (330279, 74.59, 25.41, 9.15, 10516),
    },
    "web": {"all": (72550, 73.94, 26.06, 6.92, 1108)},
}
"""The paper's tables 1 to 3: distinct blocks; code, data and writes per cent of all references;
shared blocks, where it says."""


def groups(trace: Trace) -> dict[str, list[int]]:
    """Process numbers of a mix by name, `all` of them last."""
    named: dict[str, list[int]] = {}
    for process in trace.metadata["processes"]:
        named.setdefault(process["names"][-1], []).append(process["pid"])
    return {**named, "all": [pid for pids in named.values() for pid in pids]}


def statistics(mix: Path, progress: Progress = None) -> list[dict[str, Any]]:
    """What each process of a mix touches, then those of one name together, then all.

    Returns:
        Rows with ``name``, ``processes``, ``references`` (fetches included), ``kernel`` (share of
        them), ``distinct_blocks`` and ``shared_blocks`` of 32 bytes, and ``code``, ``data`` and
        ``writes``, shares of all references.
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
    }

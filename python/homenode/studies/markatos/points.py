"""Simulates every program under every policy and page size, as it is and re-aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.studies.lab import Matrix
from homenode.transforms import transform

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from homenode.studies.lab import Laboratory
    from homenode.studies.programs import Program
    from homenode.studies.tables import Row
    from homenode.trace import Trace

MACHINE = "markatos"
POLICIES = ("upt", "inv", "inv.freez", "upt.del", "inv.del", "inv.freez.del")
LINES = ("all-local", "all-remote")
SIZES = tuple(64 << i for i in range(11))
WINDOW = 1_000_000
"""References that the re-alignment looks at together (section 3.4, step 1)."""
# Histories for inv.freez.del are longer, so it has a pass of its own: that takes less memory.
_PASSES = ((*POLICIES[:-1], *LINES), POLICIES[-1:])
_COLUMNS = ("local", "remote", "replication", "multicast", "os")


def simulated(lab: Laboratory) -> list[Row]:
    """All programs as they are: one row a policy and page size."""
    rows: list[Row] = []
    for program in lab.programs:
        rows += _points(lab, program, lab.trace(program), SIZES)
    return rows


def realigned(lab: Laboratory) -> tuple[list[Row], list[Row]]:
    """All programs re-aligned for each page size: the points, and what the re-alignment did."""
    rows: list[Row] = []
    reports: list[Row] = []
    for program in lab.programs:
        trace = lab.trace(program)
        for size in SIZES:
            with lab.watch(f"re-aligning {program.name}") as step:
                moved = transform(
                    "realign", trace, page_size=size, window=window_of(trace), progress=step
                )
            rows += _points(lab, program, moved, [size])
            reports.append({"program": program.name, **(moved.report or {})})
    return rows, reports


def window_of(trace: Trace) -> int:
    """The window, of all references of a trace, that holds a million shared ones on average.

    The paper's traces hold references to shared memory only; ours hold private ones too, which
    count in a window although they never share a page.
    """
    shared = trace.references - int(trace.info["private"])
    return round(WINDOW * trace.references / max(shared, 1))


def _points(lab: Laboratory, program: Program, trace: Trace, sizes: Sequence[int]) -> list[Row]:
    found: list[Row] = []
    for policies in _PASSES:
        matrix = Matrix([MACHINE], policies, sizes)
        found += points(program.name, lab.outcomes(matrix, program, trace))
    return found


def points(program: str, outcomes: Iterable[dict[str, Any]]) -> list[Row]:
    """Outcomes with the columns of the paper's tables: cycles and packets, each a reference."""
    return [_point(program, outcome) for outcome in outcomes]


def _point(program: str, outcome: dict[str, Any]) -> Row:
    latency, counts, traffic = outcome["latency"], outcome["counts"], outcome["traffic"]
    return {
        "program": program,
        "policy": outcome["policy"],
        "page": outcome["block_size"].bit_length() - 1,
        **{name: latency[name] for name in _COLUMNS},
        "total": latency["total"],
        "normalised": outcome["mcpr"],
        "replication_packets": traffic["replication"],
        "remote_packets": traffic["remote"],
        "multicast_packets": traffic["multicast"],
        "mls": outcome["mls"],
        "references": outcome["references"],
        "replications": counts["replications"],
        "multicast_writes": counts["multicast_writes"],
        "freezes": counts["freezes"],
    }

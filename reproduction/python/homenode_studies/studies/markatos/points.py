"""Simulates every program under every policy and page size, as it is and re-aligned."""

from collections.abc import Iterable
from typing import Any

from homenode_studies.studies.context import Matrix, StudyContext, TunedPolicy
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Row

MACHINE = "markatos"
POLICIES = ("upt", "inv", "inv.freez", "upt.del", "inv.del", "inv.freez.del")
FREEZING = "by=writes,f=10000000"
"""Interpretation of freezing policies: any write invalidates, and recent means within ten million
references.

So a page that was ever written is frozen until all pages defrost (table freezing-readings).
"""
LINES = ("all-local", "all-remote")
SIZES = tuple(64 << i for i in range(11))
WINDOW = 1_000_000
"""References that the re-alignment looks at together (section 3.4, step 1)."""
_COLUMNS = ("local", "remote", "replication", "multicast", "os")


def simulated(context: StudyContext) -> list[Row]:
    """All programs without re-alignment: one row per policy and page size."""
    rows: list[Row] = []
    for program in context.programs:
        matrix = Matrix([MACHINE], [*_read(), *LINES], SIZES)
        rows += points(program, matrix, context.outcomes(matrix, program, context.trace(program)))
    return rows


def realigned(context: StudyContext) -> tuple[list[Row], list[Row]]:
    """All programs re-aligned for each page size: the points, and the reports of re-alignment."""
    rows: list[Row] = []
    reports: list[Row] = []
    for program in context.programs:
        matrix = Matrix([MACHINE], _read(), SIZES)
        found = context.outcomes(matrix, program, context.trace(program), realign=WINDOW)
        rows += points(program, matrix, found)
        reports += [{"program": program.name, **report} for report in found.realignments.values()]
    return rows, reports


def _read() -> list[str | TunedPolicy]:
    """The policies in the engine's notation."""
    return [_frozen(name) if "freez" in name else name for name in POLICIES]


def _frozen(name: str) -> TunedPolicy:
    return TunedPolicy(name, lambda _: f"{name}:{FREEZING}")


def points(program: Program, matrix: Matrix, outcomes: Iterable[dict[str, Any]]) -> list[Row]:
    """Outcomes with the columns of the paper's tables: cycles and packets per reference."""
    names = matrix.policies_of(program)
    return [_point(program.name, names[outcome["policy"]], outcome) for outcome in outcomes]


def _point(program: str, policy: str, outcome: dict[str, Any]) -> Row:
    latency, counts, traffic = outcome["latency"], outcome["counts"], outcome["traffic"]
    return {
        "program": program,
        "policy": policy,
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

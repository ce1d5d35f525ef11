"""Possible interpretations of the freezing policies, and the one that fits the paper's text.

Section 3.2 freezes a page on which a read faults if it was invalidated recently. It says neither
how long ago that may be, nor whether a write invalidates a page with one copy. The paper's tables
have no row of freezing; its text says that INV.FREEZ costs about as much as all-remote, at any page
size, and also with re-aligned data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean

from homenode.results.result import Result
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.markatos import points
from homenode_studies.studies.tables import Row, Table

_RECENTLY = (10_000, 100_000, 1_000_000, 10_000_000)
"""References ago."""
_INVALIDATIONS = ("removals", "writes")
_SIZES = (256, 1024, 4096, 16384, 65536)
_SMALL = tuple(size for size in _SIZES if size <= 4096)
DEARER = "dearer than INV, re-aligned"
"""The share of programs and pages up to 4 KB for which INV.FREEZ costs more than INV."""
POST_HOC = (
    "f was 10,000, and an invalidation was a write that removes copies; the interpretation was "
    "chosen by this text (table freezing-readings)"
)
"""The earlier rule of claims about freezing."""


def readings(context: StudyContext) -> Table:
    """INV.FREEZ under every interpretation, over all-remote."""
    rows = [_Reading(f"by={by},f={f}") for by in _INVALIDATIONS for f in _RECENTLY]
    matrix = Matrix([points.MACHINE], [*(row.policy for row in rows), "inv", "all-remote"], _SIZES)
    for program in context.programs:
        trace = context.trace(program)
        plain = context.outcomes(matrix, program, trace)
        moved = context.outcomes(matrix, program, trace, realign=points.WINDOW)
        for row in rows:
            row.plain[program.name] = _over_all_remote(plain, row.policy)
            row.realigned[program.name] = _over_all_remote(moved, row.policy)
            row.dearer += _over(moved, row.policy, "inv", _SMALL)
    return Table(
        "freezing-readings",
        "INV.FREEZ over all-remote, mean of pages of 256 bytes to 64 KB",
        [row.means() for row in rows],
        "Not a table of the paper, according to whose text all are close to 1. by: the definition "
        "of an invalidation, a write that removes copies or any write; f: references within which "
        "an invalidation is recent. Off by: the geometric mean, over programs and pages, of the "
        "factors between these and 1. Dearer: the share of programs and pages up to 4 KB for which "
        f"it costs more than INV. The study's freezing policies have {points.FREEZING}.",
    )


@dataclass
class _Reading:
    """Costs over all-remote's by program, one for each page size."""

    name: str
    plain: dict[str, list[float]] = field(default_factory=dict)
    realigned: dict[str, list[float]] = field(default_factory=dict)
    dearer: list[float] = field(default_factory=list)

    @property
    def policy(self) -> str:
        return f"inv.freez:{self.name}"

    def means(self) -> Row:
        """The row of the table."""
        row: Row = {"reading": self.name}
        for found, how in ((self.plain, ""), (self.realigned, ", re-aligned")):
            row |= {f"{program}{how}": geometric_mean(over) for program, over in found.items()}
            row[f"off by{how}"] = geometric_mean(
                max(over, 1 / over) for of_program in found.values() for over in of_program
            )
        row[DEARER] = sum(over > 1 for over in self.dearer) / len(self.dearer)
        return row


def _over_all_remote(found: Result, policy: str) -> list[float]:
    return _over(found, policy, "all-remote", _SIZES)


def _over(found: Result, policy: str, other: str, sizes: Sequence[int]) -> list[float]:
    """The cost of a policy over another's with each size of pages."""
    costs = {(row["policy"], row["block_size"]): row["mcpr"] for row in found}
    return [costs[policy, size] / costs[other, size] for size in sizes]

"""What the freezing policies can mean, and which reading fits the paper's words.

Section 3.2 freezes a page on which a read faults if it was invalidated recently. How long ago that
may be is not said, nor whether a write invalidates a page that has one copy. The paper's tables
have no row of freezing; its words are that INV.FREEZ costs about what all-remote does, whatever the
page size, and with data re-aligned as well.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import TYPE_CHECKING

from homenode.studies.context import Matrix
from homenode.studies.markatos import points
from homenode.studies.tables import Table

if TYPE_CHECKING:
    from homenode.studies.context import StudyContext
    from homenode.studies.tables import Row

_RECENTLY = (10_000, 100_000, 1_000_000, 10_000_000)
"""References ago."""
_INVALIDATIONS = ("removals", "writes")
_SIZES = (256, 1024, 4096, 16384, 65536)
POST_HOC = (
    "f was 10,000, and an invalidation a write that takes copies away; the reading was chosen by "
    "these words (table freezing-readings)"
)
"""Of claims that look at freezing."""


def readings(context: StudyContext) -> Table:
    """INV.FREEZ in every reading, over all-remote: the geometric mean of the page sizes."""
    specs = [f"inv.freez:by={by},f={f}" for by in _INVALIDATIONS for f in _RECENTLY]
    matrix = Matrix([points.MACHINE], [*specs, "all-remote"], _SIZES)
    rows: dict[str, Row] = {spec: {"reading": spec.partition(":")[2]} for spec in specs}
    for program in context.programs:
        trace = context.trace(program)
        plain = context.outcomes(matrix, program, trace)
        moved = context.outcomes(matrix, program, trace, realign=points.WINDOW)
        for found, how in ((list(plain), ""), (list(moved), ", re-aligned")):
            line = {
                row["block_size"]: row["mcpr"] for row in found if row["policy"] == "all-remote"
            }
            for spec in specs:
                over = [r["mcpr"] / line[r["block_size"]] for r in found if r["policy"] == spec]
                rows[spec][f"{program.name}{how}"] = geometric_mean(over)
    return Table(
        "freezing-readings",
        "INV.FREEZ over all-remote, mean of pages of 256 bytes to 64 KB",
        [row | {"off by": _off(row)} for row in rows.values()],
        "Not a table of the paper, in whose words all are close to 1. by: what an invalidation is, "
        "a write that removes copies or any write; f: how many references ago is recent. Off by: "
        "the geometric mean of the factors between these and 1. The study's freezing policies "
        f"have {points.FREEZING}.",
    )


def _off(row: Row) -> float:
    """The mean factor between costs and all-remote's, whichever is higher."""
    factors = [value for name, value in row.items() if name != "reading"]
    return geometric_mean(max(factor, 1 / factor) for factor in factors)

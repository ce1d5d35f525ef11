"""What a reader must know about the study's traces and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.studies.tables import Row

_TRACES = (
    "What the kernel does is in the recordings, for each process; no model of it is added. A mix "
    "is the recording of a whole system with a thread for each process; addresses are physical, "
    "and what the kernel has for each processor belongs to the processor that is simulated."
)
_NO_FETCHES = (
    "These recordings have no instruction fetches. In the paper three of four references are "
    "fetches (table 3: 75, 75 and 74 %), so a data reference here stands for four: it takes 8 "
    "cycles instead of 2, a turn has 50,000 of them, the window of 64 instructions 21, and rates "
    "are percentages of four times as many references. That takes fetches for hits: misses on "
    "code are missing. Mixes with fetches run on the paper's machine as it is."
)
_RULES = (
    "Beside the rules below: a series rises or falls if its ends do and no step goes the other way "
    "by more than a hundredth; a scalability holds within two processors, the step of the numbers "
    "simulated; percentages below ten are judged as numbers, within a tenth; no substantial "
    "difference means within a tenth. A block size is the best choice if it is the smallest from "
    "which no doubling adds more than a twentieth to the power.",
    "The numbers are those of one seed of the scheduler. Copies that PSCR's line for private areas "
    "takes away and that are missed afterwards count among the other misses, as they would in the "
    "paper, where no transaction invalidates them.",
)


def of(points: Sequence[Row]) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    without = any(row["stands_for"] > 1 for row in points)
    return (_TRACES, *([_NO_FETCHES] if without else []), *_RULES)

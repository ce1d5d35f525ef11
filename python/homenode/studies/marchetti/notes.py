"""What a reader must know about the study's programs, machine and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.studies.marchetti import SOFTWARE

if TYPE_CHECKING:
    from homenode.studies.marchetti.runs import Runs

_TIME = (
    "Times and counts begin at the programs' mark that initialisation is over; caches and homes "
    "are as it left them. Locks and barriers are messages to their homes, not references. The "
    "recording has data references only; each comes after as many instructions as a program has "
    "for each on average (programs.toml: 2 to 5)."
)
_OPEN = (
    "Not in the paper: the associativity of the caches (ours: direct-mapped), the size of message "
    "heads (8 bytes) and write buffers (4 words), the n of first-fill (4) and of replication. The "
    "table variations has other caches, no contention, and no time between references."
)
_RULES = (
    "Beside the rules below: a share is in a stated range if it is within five points of it, and "
    "a statement of most programs holds for more than half of those that were run; a series rises "
    "or falls if its ends do and no step goes the other way by more than a hundredth. Each rule "
    "was first tried on the paper's own numbers (own-statements)."
)
_NO_SOFTWARE = (
    "Coherence in software is not simulated by this engine: what is said of it is not testable."
)


def of(runs: Runs) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    notes = (_TIME, _OPEN, _RULES)
    return notes if SOFTWARE in runs.protocols() else (*notes, _NO_SOFTWARE)

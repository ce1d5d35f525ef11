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
_MP3D = (
    "mp3d, tried: its cells lie on 32 pages that all processors use. Likely most of its fills "
    "are of them; each takes a memory 76 cycles, and a home of three such pages, by our "
    "estimate, is in use nearly all the time. Under first-use, chance makes some nodes that, "
    "and 4-way or larger caches do not help. best-static gains 6 %; optimal-static, which does "
    "not know of waiting, takes three times as long. SPLASH's program has locks as an option "
    "only, and cells of 40 bytes (ours: 56). Without locks, with one visit for each particle "
    "and with aligned cells of 64 bytes, first-use loses 21 % instead of 49 %; without locks "
    "alone it loses more."
)
_WATER = (
    "water, tried: after each molecule energies are added to one counter. Its line also has "
    "what all processors read: the address of the records, the size of the box and the radius. So "
    "each addition takes their copies away, and a fill takes 694 cycles. With energies added once "
    "a thread and records of 624 bytes the time without placement falls from 10.2 to 6.0 million "
    "cycles and placement gains 17 %; with the records alone it gains 4 %. 16-byte blocks part "
    "the counter from these, 32-byte blocks from most: there placement gains 21 and 31 %."
)
_APPBT = (
    "appbt: 94 % of its references are to private memory, where ours has the blocks of a line; "
    "it misses 0.56 % and waits for fills 7 % of the time, so that there is little to gain. "
    "Half of the time processors wait for each other: for the first thread, of whose references "
    "517,440 are of the program's check and ought not to be in the recording (2.6 of 8.9 "
    "million cycles, a mistake of ours), and because 196 lines are divided among 64 threads."
)
_MGRID = (
    "mgrid: 64 threads have a plane each of the finest grid, and half or three quarters of them "
    "nothing on coarse grids: 41 % of the time is waiting for others, which placement does not "
    "shorten."
)
_NO_SOFTWARE = (
    "Coherence in software is not simulated by this engine: what is said of it is not testable."
)


def of(runs: Runs, *, quick: bool) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    notes: tuple[str, ...] = (_TIME, _OPEN, _RULES)
    if SOFTWARE not in runs.protocols():
        notes = (*notes, _NO_SOFTWARE)
    # These findings are of full sizes only.
    return notes if quick else (*notes, _MP3D, _WATER, _APPBT, _MGRID)

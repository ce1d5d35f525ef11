"""What a reader must know about the study's traces and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.options.specs import unique
from homenode_studies.studies.foglia.matrix import SERVER
from homenode_studies.studies.foglia.runs import setting_of_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode_studies.studies.tables import Row

_TRACES = (
    "What the kernel does is in the recordings, for each process; no model of it is added. A mix "
    "is the recording of a whole system with a thread for each process; addresses are physical, "
    "and what the kernel has for each processor belongs to the processor that is simulated."
)
_NO_FETCHES = (
    "These recordings have no instruction fetches. In the paper three of four references are "
    "fetches (table 3: 75, 75 and 74 %), so a data reference here stands for four: it takes 8 "
    "cycles instead of 2, a turn has 50,000 of them, and rates "
    "are percentages of four times as many references. That takes fetches for hits: misses on "
    "code are missing. Mixes with fetches run on the paper's machine as it is."
)
_PROCESSOR = (
    "A processor waits for a fetch that misses: an out-of-order window cannot hide instructions "
    "that it has not got. Its window of 64 instructions is full 16 cycles after the oldest load "
    "under way began, as it issues four instructions a cycle (section 4), though each reference "
    "takes 2 cycles (table 4)."
)
_PRIVATE = (
    "Each claim about PSCR is judged twice: with the user pages of a process as its private area, "
    "even if others reference them, and also with the pages that only the kernel references for "
    "one process (private_kernel=yes), which sections 2 and 5.2.2 propose. Section 2 says that an "
    "area is private, not who references it: a kernel that copies from a process's buffer takes "
    "the block along like the process."
)
_HELD = (
    "For how long a fetch from memory holds the bus is a reading of ours: with split "
    "transactions for the request and the data, 12 cycles of 68 with 32-byte blocks and 40 of "
    "96 with 256-byte ones. The table bands-of-holds has what powers and uses of the bus are "
    "with 22 and with all 68."
)
_SUPPLIED = (
    "What a miss costs depends on who supplies the block. Under MESI as it is here (Illinois) any "
    "cache that has a copy does, in 12 cycles of 68 with 32-byte blocks; with eight processors, 2 "
    "MB and random scheduling that is three quarters of what is fetched, as the processes run the "
    "same code. Where memory supplies clean blocks (mesi-memory) four and eight have powers of "
    "3.44 and 6.70; if each fetch then holds the bus to its end, 2.95 and 3.99. With caches no "
    "faster than memory, and the bus held so long (read_block_cache of 64 cycles and the data), "
    "four and eight processors with 32 bytes have powers of 3.1 and 4.5, eight with 256 bytes 5.4,"
    " and with 128 bytes and affinity 6.4. The paper's 3.3, 5.6, 7 and 7.4 lie between these and "
    "ours, 3.6, 7.2, 6.9 and 7.4: its caches may supply written blocks only, which it does not "
    "say. Processors that wait for every miss (blocking) change less: 3.5, 6.8, 6.8 and 7.3."
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


def of(points: Sequence[Row], *, quick: bool) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    without = any(row["stands_for"] > 1 for row in points)
    machine = (_TRACES, *([_NO_FETCHES] if without else []), _PROCESSOR, _PRIVATE)
    notes = (*machine, *_RULES, _writes(points))
    # These findings are of mixes of full length only.
    return notes if quick else (*notes, _HELD, _SUPPLIED)


def _writes(points: Sequence[Row]) -> str:
    """How many writes of PSCR there are for each block that MESI takes to write it."""
    found = {
        (row["workload"], row["protocol"]): row
        for row in points
        if setting_of_point(row) == SERVER.changed(protocol=row["protocol"])
    }
    shares = []
    for workload in unique(row["workload"] for row in points):
        mesi, pscr = found[workload, "mesi"], found[workload, "pscr"]
        taken = mesi["transactions_invalidate"] + mesi["transactions_read_invalidate_cache"]
        if taken:
            shares.append(f"{workload} {pscr['transactions_write'] / taken:.0f}")
    return (
        "PSCR sends a write over the bus for every store to a block of which another cache has a "
        "copy, even if that copy is never read again. For each time that MESI takes a block from "
        f"other caches to write it, PSCR sends N such writes: {', '.join(shares)} (16 processors, "
        "affinity). In caches of 2 MB unread copies live long, and kernels write the same block "
        "many times before another processor reads it."
    )

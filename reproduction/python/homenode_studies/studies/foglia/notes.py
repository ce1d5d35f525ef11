"""Remarks on the study's traces and rules."""

from collections.abc import Sequence

from homenode.options.specs import unique
from homenode_studies.studies.foglia.matrix import SERVER, Setting
from homenode_studies.studies.tables import Row

_TRACES = (
    "The recordings include the kernel's references for each process; no model of a kernel is "
    "added. A mix is the recording of a whole system with a thread for each process; addresses are "
    "physical, and the kernel's per-processor data belong to the simulated processor."
)
_NO_FETCHES = (
    "These recordings have no instruction fetches. In the paper three of four references are "
    "fetches (table 3: 75, 75 and 74 %), so a data reference here represents four: it takes 8 "
    "cycles instead of 2, a turn has 50,000 of them, and rates are percentages of four times as "
    "many references. This treats fetches as hits: misses on code are missing. Mixes with fetches "
    "run on the paper's machine as it is."
)
_PROCESSOR = (
    "A processor waits for a fetch that misses: an out-of-order window cannot hide missing "
    "instructions. Its window of 64 instructions is full 16 cycles after the oldest outstanding "
    "load began, as it issues four instructions a cycle (section 4), although each reference takes "
    "2 cycles (table 4)."
)
_PRIVATE = (
    "Each claim about PSCR is judged twice: with the user pages of a process as its private area, "
    "even if others reference them, and with the additional pages that only the kernel references "
    "for one process (private_kernel=yes), which sections 2 and 5.2.2 propose. In section 2 the "
    "area is private, regardless of the reference: a kernel that copies from a process's buffer "
    "takes the block over as the process does."
)
_HELD = (
    "The time for which a fetch from memory holds the bus is our interpretation: with split "
    "transactions, the request and the data, 12 cycles of 68 with 32-byte blocks and 40 of 96 with "
    "256-byte ones. The table bands-of-holds has powers and bus utilisations with 22 and with all "
    "68."
)
_SUPPLIED = (
    "The cost of a miss depends on the supplier of the block. Under MESI as modelled here "
    "(Illinois) any cache with a copy supplies it, in 12 cycles of 68 with 32-byte blocks; with "
    "eight processors, 2 MB and random scheduling that is three quarters of all fetched blocks, as "
    "the processes run the same code. If memory supplies clean blocks (mesi-memory), four and "
    "eight processors have powers of 3.44 and 6.70; if in addition each fetch holds the bus to its "
    "end, 2.95 and 3.99. With caches as slow as memory, and the bus held as long (read_block_cache "
    "of 64 cycles plus the data), four and eight processors with 32 bytes have powers of 3.1 and "
    "4.5, eight with 256 bytes 5.4, and with 128 bytes and affinity 6.4. The paper's 3.3, 5.6, 7 "
    "and 7.4 lie between these and ours, 3.6, 7.2, 6.9 and 7.4: its caches may supply only written "
    "blocks, which it does not say. Processors that wait for every miss (blocking) have less "
    "effect: 3.5, 6.8, 6.8 and 7.3."
)
_RULES = (
    "In addition to the rules below, a series rises or falls if its ends do and no step goes the "
    "other way by more than a hundredth; a scalability holds within two processors, the step of "
    "the simulated numbers; percentages below ten are judged as numbers, within a tenth; no "
    "substantial difference means within a tenth. A block size is the best choice if it is the "
    "smallest from which no doubling adds more than a twentieth to the power.",
    "The numbers are those of one seed of the scheduler. Misses on copies that PSCR removes "
    "because their area is private count among the other misses, as they would in the paper, where "
    "no transaction invalidates them.",
)


def of(points: Sequence[Row], *, quick: bool) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    without = any(row["stands_for"] > 1 for row in points)
    machine = (_TRACES, *([_NO_FETCHES] if without else []), _PROCESSOR, _PRIVATE)
    notes = (*machine, *_RULES, _writes(points))
    # These findings hold only for mixes of full length.
    return notes if quick else (*notes, _HELD, _SUPPLIED)


def _writes(points: Sequence[Row]) -> str:
    """The number of PSCR's writes for each block that MESI fetches to write it."""
    found = {
        (row["workload"], row["protocol"]): row
        for row in points
        if Setting.of(row) == SERVER.changed(protocol=row["protocol"])
    }
    shares = []
    for workload in unique(row["workload"] for row in points):
        mesi, pscr = found[workload, "mesi"], found[workload, "pscr"]
        taken = mesi["transactions_invalidate"] + mesi["transactions_read_invalidate_cache"]
        if taken:
            shares.append(f"{workload} {pscr['transactions_write'] / taken:.0f}")
    return (
        "PSCR sends a write over the bus for every store to a block of which another cache has a "
        "copy, even if that copy is never read again. For each block that MESI takes from other "
        f"caches to write it, PSCR sends N such writes: {', '.join(shares)} (16 processors, "
        "affinity). In caches of 2 MB unread copies survive long, and kernels write the same block "
        "many times before another processor reads it."
    )

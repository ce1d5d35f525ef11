"""Remarks on the study's traces and rules."""

from collections.abc import Sequence

from homenode.options.specs import unique
from homenode_studies.studies.foglia.break_even import takeovers
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
    "The cost of a miss depends on the supplier of the block. The MESI of the paper is that of "
    "Pentium Pro and Pentium II (section 2, its reference 45), whose caches supply modified blocks "
    "alone: clean blocks come from memory, which takes 68 cycles with 32 bytes instead of 12. AMSD "
    "and PSCR have the same rule here (mesi-memory, amsd-memory, pscr-memory), so that protocols "
    "differ by what they do about sharing: a cache supplies a block if it owns it (M; M and MD of "
    "AMSD; M and SM of PSCR). In the variant caches any cache that has the block supplies it "
    "(mesi, amsd, pscr)."
)
_MOVED = (
    "Affinity leaves open when a ready process runs elsewhere. Here a process waits for the "
    "processor on which it ran last unless that takes eight others meanwhile (aging, in "
    "home-dispatches), and processes that have done their share of the work leave their processors "
    "to those that have not. The table bands-of-aging has powers and migrations with other rules."
)
_RULES = (
    "In addition to the rules below, a series rises or falls if its ends do and no step goes the "
    "other way by more than a hundredth; a power is higher or lower than another only if it is by "
    "more than a fiftieth; a scalability holds within a tenth, or less than two processors (the "
    "step of the simulated numbers) from the paper's; percentages below ten are judged as numbers, "
    "within a tenth; no substantial difference means within a tenth. A block size is the best "
    "choice if it is the smallest from which no doubling adds more than a twentieth to the power.",
    "Misses on copies that PSCR removes because their area is private count among the other "
    "misses, as they would in the paper, where no transaction invalidates them.",
)


def of(points: Sequence[Row], *, quick: bool) -> tuple[str, ...]:
    """Paragraphs for the page and the ledger."""
    without = any(row["stands_for"] > 1 for row in points)
    machine = (_TRACES, *([_NO_FETCHES] if without else []), _PROCESSOR, _PRIVATE)
    notes = (*machine, _SUPPLIED, _MOVED, *_RULES, _writes(points))
    # These findings hold only for mixes of full length.
    return notes if quick else (*notes, _HELD)


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
        if takeovers(mesi):
            shares.append(f"{workload} {pscr['transactions_write'] / takeovers(mesi):.0f}")
    return (
        "PSCR sends a write over the bus for every store to a block of which another cache has a "
        "copy, even if that copy is never read again. For each block that MESI takes from other "
        f"caches to write it, PSCR sends N such writes: {', '.join(shares)} (16 processors, "
        "affinity). In caches of 2 MB unread copies survive long, and kernels write the same block "
        "many times before another processor reads it."
    )

"""Reasons for differences that several claims share, and the numbers in them."""

from collections.abc import Callable, Sequence

from homenode_studies.studies.foglia import EC, PAPER, footprints
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.break_even import takeovers
from homenode_studies.studies.foglia.matrix import SERVER, SIZES, Setting
from homenode_studies.studies.foglia.runs import ours
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.reasons import Number, Reason
from homenode_studies.studies.tables import Evidence, Missing, Row

FASTER = (
    "the paper does not say how long a split transaction holds the bus, and what the kernel does; "
    "compare the variants held, users and caches"
)
"""Why powers and bus utilisations differ in general; the table of variants has their values."""

_THEIRS = next(
    int(row["distinct_blocks"]) for row in published(PAPER.name)["table-3"] if row["workload"] == EC
)
TOUCHED = (
    f"our EC-server touches {{touched:,.0f}} blocks of 32 bytes, the paper's {_THEIRS:,} (table 3)"
)
"""The footprints of present-day programs, with the numbers of `FOOTPRINT`."""

ONE_COPY = (
    "a present-day kernel has per-processor copies of much data that one of 2003 had once; with "
    "one copy for all processors (common) sharing causes more of the misses"
)
"""The reason why sharing in the kernel is rare."""

LINES = (
    "this kernel separates the data that processors write by lines of 64 bytes, and larger blocks "
    "put them together: with blocks of 64 and 128 bytes its misses of false sharing are "
    "{doublings:.1f} times as many as with half the block"
)
"""The reason for claims about false sharing in the kernel, with the number of `DOUBLINGS`."""


def counted(
    evidence: Evidence, workload: str, application: str = footprints.ALL, *, kernel: bool = True
) -> Row:
    """The counts of the processes of an application.

    Raises:
        Missing: when there are none.
    """
    row = footprints.row_of(list(evidence.rows("footprints")), workload, application, kernel=kernel)
    if row is None:
        raise Missing(f"needs {application} in {workload}")
    return row


def touched(evidence: Evidence) -> float:
    """The blocks of 32 bytes that EC-server touches."""
    return float(counted(evidence, EC)["distinct_blocks"])


def of(setting: Setting, value: Callable[[Row], float], workload: str = EC) -> Number:
    """A value of one machine under a workload, EC-server if none is named."""
    return lambda e: value(ours(e).at(workload, setting))


def doublings(evidence: Evidence) -> list[float]:
    """The kernel's misses of false sharing with 64 and 128 bytes, over half the block, 2 MB."""
    runs = ours(evidence)
    found = [
        m.invalidations(runs.at(EC, Setting(block_size=block)), "false", part="kernel")
        for block in (32, 64, 128)
    ]
    return [m.over(found[at + 1], found[at], "misses of false sharing") for at in range(2)]


def replaced(row: Row) -> float:
    """The percentage of misses on blocks that were evicted."""
    return 100 * m.over(m.misses(row, "replacement"), m.misses(row), "misses")


def first(row: Row) -> float:
    """The percentage of misses that are first fetches."""
    return 100 * m.over(m.misses(row, "cold"), m.misses(row), "misses")


def of_sizes(base: Setting, value: Callable[[Row], float], sizes: Sequence[int] = SIZES) -> Number:
    """A value of a machine under EC-server with each cache size."""
    return lambda e: m.series(ours(e), EC, [base.changed(cache_size=size) for size in sizes], value)


def writes_a_takeover(evidence: Evidence) -> float:
    """PSCR's writes for each block that MESI takes from other caches, 16 processors, affinity."""
    runs = ours(evidence)
    written = runs.at(EC, SERVER.changed(protocol="pscr"))["transactions_write"]
    return m.over(float(written), takeovers(runs.at(EC, SERVER)), "takeovers")


FOOTPRINT: dict[str, Number] = {"touched": touched}
DOUBLINGS: dict[str, Number] = {"doublings": doublings}


def in_proportion() -> Reason:
    """The reason for the share of invalidation misses with caches of 2 MB."""
    return Reason(
        f"checked: {ONE_COPY}; and the paper's 2 MB are {{caches:.1f}} MB here in proportion to "
        f"the footprints: {TOUCHED}",
        FOOTPRINT | {"caches": lambda e: 2 * touched(e) / _THEIRS},
    )


def evicted(setting: Setting) -> Reason:
    """The reason for what larger caches save."""
    return Reason(
        f"checked: it depends on the part of the footprint that fits: {TOUCHED}; {{replaced:.0f}} "
        "% of the misses with 1 MB are on evicted blocks",
        FOOTPRINT | {"replaced": of(setting.changed(cache_size=SIZES[-2]), replaced)},
    )


CHATTY = Reason(
    "checked: a processor writes a shared block many times before another one uses it; MESI "
    "fetches the block once, PSCR sends every write: {writes:.0f} for each block that MESI takes "
    "from other caches (16 processors, affinity)",
    {"writes": writes_a_takeover},
)
"""Why PSCR loses on recordings."""

"""When updating beats invalidating: the power of PSCR over that of MESI by writes for a takeover.

A processor that writes a block which others have takes it over. MESI invalidates their copies, and
the next processor fetches the block from the one that wrote it; PSCR sends every write. If nothing
waits and memory takes no part, PSCR uses the bus for less time while a takeover has fewer writes
than the fetch and the invalidation take in place of writes (table 4): 3.4 with blocks of 32 bytes,
5.8 with 128 bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.matrix import EXTENDED, SERVER, Setting
from homenode_studies.studies.foglia.printed import paper
from homenode_studies.studies.foglia.runs import Runs
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Missing, Row, Table

INVALIDATE_CYCLES = 5
WRITE_CYCLES = 5
"""Table 4."""
PAPER = "the paper"
OF_RECORDINGS = "recorded"
OF_STATISTICS = "from statistics"
SESSIONS = "sessions of other lengths"
EXTENDED_NAME = ", kernel's areas too"
"""The end of the names of workloads under PSCR's extension."""


@dataclass(frozen=True)
class Place:
    """A workload in the picture.

    Attributes:
        group: where it comes from: the paper, recordings, statistics.
        name: the workload, and whether PSCR's private areas include the kernel's.
        writes: PSCR's writes for each takeover under MESI.
        shared_writes: these writes for 100 references.
        ratio: the power of PSCR over that of MESI.
    """

    group: str
    name: str
    writes: float
    shared_writes: float
    ratio: float

    def row(self) -> Row:
        """The place as a row of a table."""
        return {
            "workload": self.name,
            "made": self.group,
            "writes_per_takeover": self.writes,
            "writes_per_100": self.shared_writes,
            "pscr_over_mesi": self.ratio,
        }


def break_even(block_size: int) -> float:
    """The writes for each takeover below which PSCR uses the bus for less time than MESI.

    Source: table 4: a fetch from another cache takes 8 cycles and an eighth of the block's bytes.

    >>> break_even(32), break_even(128)
    (3.4, 5.8)
    """
    return (8 + block_size / 8 + INVALIDATE_CYCLES) / WRITE_CYCLES


def takeovers(mesi: Row) -> int:
    """The blocks that processors take from other caches to write them, under MESI."""
    return int(mesi["transactions_invalidate"] + mesi["transactions_read_invalidate_cache"])


def compared(group: str, name: str, mesi: Row, pscr: Row) -> Place:
    """One workload under both protocols.

    Raises:
        Missing: when no block is taken over.
    """
    writes = float(pscr["transactions_write"])
    return Place(
        group,
        name,
        m.over(writes, takeovers(mesi), "takeovers"),
        100 * writes / float(pscr["stands_for"] * pscr["references"]),
        m.over(m.gsp(pscr), m.gsp(mesi), "powers"),
    )


def places(group: str, points: Sequence[Row]) -> list[Place]:
    """The workloads of some simulations, on the machine of figures 19 to 22."""
    runs = Runs(points)
    found = []
    for workload in runs.workloads():
        for protocol, areas in (("pscr", ""), (EXTENDED, EXTENDED_NAME)):
            try:
                mesi, pscr = (runs.at(workload, _server(p)) for p in ("mesi", protocol))
                found.append(compared(group, f"{workload}{areas}", mesi, pscr))
            except Missing:
                continue
    return found


def _server(protocol: str) -> Setting:
    return SERVER.changed(protocol=protocol)


def of_paper() -> Place:
    """The paper's EC-server, from what it prints.

    Its writes to shared data are in table 3. Of the misses with 128-byte blocks half are
    invalidation misses (section 5.2.1); the misses follow from the power and the use of the bus
    with eight processors, if each miss holds the bus for a transfer between caches and the request
    of one from memory, 24 to 27 cycles. Its power under MESI with affinity is printed for 14
    processors, its critical point.
    """
    printed = {row["workload"]: row for row in published("foglia-giorgi-prete")["table-3"]}
    written = float(printed["EC-server"]["shared_write"])
    found = paper().rows("points")
    eight = next(row for row in found if Setting.of(row) == SERVER.changed(processors=8))
    sixteen = next(row for row in found if Setting.of(row) == _server("pscr"))
    held = (24 + 27) / 2
    misses = 100 * m.bus(eight) / (m.gsp(eight) / m.OPERATION * held)
    of_mesi = next(
        float(row["value"])
        for row in published("foglia-giorgi-prete")["stated"]
        if (row["section"], row["quantity"]) == ("5.2.1", "gsp_max")
    )
    return Place(PAPER, "EC-server", written / (misses / 2), written, m.gsp(sixteen) / of_mesi)


def table(found: Iterable[Place]) -> Table:
    """All places as a table."""
    return Table(
        "break-even",
        "power of PSCR over that of MESI by writes for each takeover: 16 processors, 2 MB, 128 B, "
        "affinity",
        [place.row() for place in found],
        "A takeover is a block that a processor takes from other caches to write it, under MESI. "
        f"By the bus alone PSCR gains below {break_even(128):g} writes for each, with 32-byte "
        f"blocks below {break_even(32):g} (docs/bus.md). The paper's values follow from what it "
        "prints.",
    )

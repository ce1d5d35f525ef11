"""Looks up our costs and the printed ones alike, so that a measure works on either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from homenode_studies.studies.markatos import PAPER
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Missing, Row

PROGRAMS = ("FFT", "SIMPLE", "SPEECH", "WEATHER")
PARTS = ("local", "remote", "replication", "multicast", "os")
TRAFFIC = ("replication_packets", "remote_packets", "multicast_packets")
LOCAL = 5.0
"""Cycles of a local reference, by which latencies are normalised (section 3.1.3)."""
_UPDATE = 10.0
"""Cycles of a remote write (table 1), and of an update packet in all tables except two."""


class Costs:
    """Points by program, policy and page size (its base-2 logarithm), plain or re-aligned."""

    def __init__(self, plain: Iterable[Row], realigned: Iterable[Row]) -> None:
        self._at: dict[tuple[str, str, int, bool], Row] = {}
        for moved, rows in ((False, plain), (True, realigned)):
            for row in rows:
                self._at[row["program"], row["policy"], int(row["page"]), moved] = row

    def programs(self) -> list[str]:
        """The programs, in the order of the paper's tables."""
        here = {program for program, _, _, _ in self._at}
        return [program for program in PROGRAMS if program in here]

    def pages(self, program: str, policy: str, realigned: bool = False) -> list[int]:
        """The page sizes at which there is a point."""
        return sorted(
            page
            for name, which, page, moved in self._at
            if (name, which, moved) == (program, policy, realigned)
        )

    def row(self, program: str, policy: str, page: int, realigned: bool = False) -> Row:
        """One point.

        Raises:
            Missing: when there is none.
        """
        try:
            return self._at[program, policy, page, realigned]
        except KeyError:
            how = " re-aligned" if realigned else ""
            raise Missing(
                f"needs {program}{how} under {policy} with pages of {1 << page} bytes"
            ) from None

    def has(self, program: str, policy: str, page: int, realigned: bool = False) -> bool:
        """Whether there is such a point."""
        return (program, policy, page, realigned) in self._at

    def cost(self, program: str, policy: str, page: int, realigned: bool = False) -> float:
        """The normalised latency of one point."""
        return float(self.row(program, policy, page, realigned)["normalised"])

    def only(self, *programs: str) -> Costs:
        """The points of some programs.

        Raises:
            Missing: when one has none.
        """
        absent = sorted(set(programs) - set(self.programs()))
        if absent:
            raise Missing(f"needs {', '.join(absent)}, which this run does not have")
        found = Costs([], [])
        found._at = {key: row for key, row in self._at.items() if key[0] in programs}
        return found

    def line(self, program: str, policy: str = "all-remote") -> float:
        """The height of a line of the figures, the same at every page size."""
        return self.cost(program, policy, self.pages(program, policy)[0])


def ours(evidence: Evidence) -> Costs:
    """Our points."""
    return Costs(evidence.rows("points"), evidence.rows("points-realigned"))


@cache
def theirs() -> Costs:
    """The points of the printed tables: the sum of the latencies, divided by that of local."""
    rows = printed_rows()
    return Costs(
        [row for row in rows if not row["realigned"]], [row for row in rows if row["realigned"]]
    )


@cache
def theirs_by_packets() -> Costs:
    """The same, with updates of SPEECH priced by their packets, 10 cycles each as in other tables.

    Tables 4 and 8 print the same latency for any number of packets.
    """
    rows = [
        _by_packets(row) if row["program"] == "SPEECH" and not row["realigned"] else row
        for row in printed_rows()
    ]
    return Costs(
        [row for row in rows if not row["realigned"]], [row for row in rows if row["realigned"]]
    )


def _by_packets(row: Row) -> Row:
    total = row["total"] - row["multicast"] + _UPDATE * row["multicast_packets"]
    return {**row, "total": total, "normalised": total / LOCAL}


def printed_rows() -> Sequence[Row]:
    """The printed tables with the columns of our points."""
    return [
        {
            **row,
            "program": str(row["program"]).upper(),
            "realigned": row["realigned"] == "yes",
            "page": int(row["page_log2"]),
            "total": total_of(row),
            "normalised": total_of(row) / LOCAL,
        }
        for row in published(PAPER.name)["tables"]
    ]


def total_of(row: Row) -> float:
    """The sum of the latency columns."""
    return float(sum(row[part] for part in PARTS))

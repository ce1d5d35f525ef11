"""Beyond the paper: other queues, networks, numbers of nodes and proxies, and where proxies win."""

from collections.abc import Iterable, Mapping
from itertools import product

from homenode.options.specs import unique
from homenode_studies.studies.tables import Evidence, Missing, Row, Table
from homenode_studies.studies.talbot import GE
from homenode_studies.studies.talbot.bars import messages
from homenode_studies.studies.talbot.matrix import (
    BASIC,
    BEST,
    CLUSTERS,
    FAIR,
    FILLS,
    FINITE,
    HOMES,
    LENGTHS,
    MESH,
    NONE,
    REACTIVE,
    ROUND,
    SEPARATE,
    SLOWER,
    UNALLOCATED,
    USUAL,
    Setting,
)

BASE = Setting(nodes=USUAL)
"""The paper's machine, with programs in the sizes of runs beyond it."""
TIMES = {machine: machine.rpartition("-")[2] for machine in SLOWER}
"""The factor by which a network is slower than the paper's."""


class Points:
    """Simulated rows by program and setting."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._at = {(row["program"], Setting.of(row)): row for row in self.rows}

    def programs(self) -> list[str]:
        """The programs that were run beyond the paper."""
        return unique(row["program"] for row in self.rows if row["nodes"])

    def at(self, program: str, setting: Setting) -> Row:
        """One row.

        Raises:
            Missing: when it was not simulated.
        """
        try:
            return self._at[program, setting]
        except KeyError:
            raise Missing(f"{program} with {setting} was not simulated") from None

    def has(self, program: str, setting: Setting) -> bool:
        """Whether it was simulated."""
        return (program, setting) in self._at

    def cycles(self, program: str, setting: Setting) -> float:
        """The time of one row."""
        return float(self.at(program, setting)["cycles"])

    def nodes(self, program: str) -> list[int]:
        """The numbers of nodes with which a program was run beyond the paper."""
        return sorted({row["nodes"] for row in self.rows if row["program"] == program} - {0})


def situations(points: Points, program: str) -> dict[str, Setting]:
    """The situations beyond the paper, as settings of first touch with reactive proxies."""
    found = {"the paper's": BASE}
    found |= {f"queues of {n}": BASE.changed(buffers=n) for n in LENGTHS if n != FINITE}
    found |= {f"network {TIMES[m]} times": BASE.changed(machine=m) for m in SLOWER}
    found["Marchetti's times"] = BASE.changed(machine=MESH)
    found |= {f"{n} nodes": BASE.changed(nodes=n) for n in points.nodes(program) if n != USUAL}
    found["no allocation"] = BASE.changed(dial=UNALLOCATED)
    reactive = {name: setting.changed(proxies=REACTIVE) for name, setting in found.items()}
    return {name: s for name, s in reactive.items() if points.has(program, s)}


def against_both(points: Points, program: str, setting: Setting) -> Mapping[str, float]:
    """The time of a setting over that of each placement without proxies, by home."""
    plain = setting.changed(proxies=NONE, dial=BASE.dial)
    ours = points.cycles(program, setting)
    return {
        said: ours / points.cycles(program, plain.changed(home=home))
        for said, home in (("ft", plain.home), ("rr", ROUND))
    }


def tables(points: Points) -> list[Table]:
    """The tables beyond the paper; none if nothing was simulated."""
    if not points.programs():
        return []
    return [_situations(points), _homes(points), _dials(points), *_clusters(points)]


def _situations(points: Points) -> Table:
    rows = []
    for program in points.programs():
        for name, setting in situations(points, program).items():
            found, over = points.at(program, setting), against_both(points, program, setting)
            row: Row = {"program": program, "situation": name, "cycles": found["cycles"]}
            row |= {"over ft": over["ft"], "over rr": over["rr"]}
            row["over the better"] = max(over.values())
            row |= {n: found[n] for n in ("bounced", "proxy_reads", "combined")}
            rows.append(row)
    return Table(
        "beyond",
        "beyond the paper: reactive proxies with first touch in other situations",
        rows,
        "Time of reactive proxies with first touch over that of each placement without proxies in "
        "the same situation. Barnes has 2,048 bodies here and GE 256 rows.",
    )


def _homes(points: Points) -> Table:
    """Homes of part I with controllers that serve one request at a time and finite buffers."""
    rows = []
    for program in points.programs():
        plain = points.cycles(program, BASE)
        for home, kind in product((*HOMES, FILLS, BEST), (NONE, REACTIVE)):
            setting = BASE.changed(home=home, proxies=kind)
            if not points.has(program, setting):
                continue
            found = points.at(program, setting)
            row: Row = {"program": program, "home": home, "proxies": kind}
            row |= {"time": float(found["cycles"]) / plain}
            row["local fills"] = found["local_fill_share"]
            rows.append(row | _waits(found))
    return Table(
        "homes",
        "beyond the paper: more sophisticated homes, under finite buffers",
        rows,
        "Time over that with first touch and without proxies. best-static has each page at the "
        "node with most of its fills in a first run, and ignores contention.",
    )


def _dials(points: Points) -> Table:
    rows = []
    names = {BASE.dial: "the paper's", UNALLOCATED: "no allocation"}
    names |= {SEPARATE: "separate cache", FAIR: "fair"}
    for program in points.programs():
        plain = points.at(program, BASE)
        for kind in (BASIC, REACTIVE):
            for dial, said in names.items():
                setting = BASE.changed(proxies=kind, dial=dial)
                if not points.has(program, setting):
                    continue
                found = points.at(program, setting)
                row: Row = {"program": program, "proxies": kind, "as": said}
                row["time"] = float(found["cycles"]) / float(plain["cycles"])
                row["messages"] = messages(found) / messages(plain)
                rows.append(row | _waits(found))
    return Table(
        "dials",
        "beyond the paper: proxies that keep no copy, or keep it in a separate cache of 64 KB, and "
        "chains that answer in order of arrival",
        rows,
        "First touch and finite buffers; time and messages over those without proxies.",
    )


def _waits(found: Row) -> Row:
    return {
        name: found[name]
        for name in ("mean_read_response_cycles", "mean_queue_cycles", "bounced", "proxy_reads")
    }


def _clusters(points: Points) -> list[Table]:
    if not points.has(GE, BASE.changed(proxies=BASIC, dial=f"clusters={CLUSTERS[0]}")):
        return []
    plain = points.cycles(GE, BASE)
    rows = []
    for kind in (BASIC, REACTIVE):
        usual = BASE.changed(proxies=kind)
        listed = {count: usual.changed(dial=f"clusters={count}") for count in CLUSTERS}
        for count, setting in sorted({**listed, "3": usual}.items()):
            found = points.at(GE, setting)
            row: Row = {"proxies": kind, "clusters": int(count), "cycles": found["cycles"]}
            row["time"] = float(found["cycles"]) / plain
            rows.append(row | _waits(found))
    note = "GE of 256 rows, first touch, finite buffers; time over that without proxies."
    return [Table("clusters", "beyond the paper: GE by the number of clusters", rows, note)]


def by_clusters(evidence: Evidence) -> dict[str, float]:
    """GE's time with other numbers of clusters over that with three, basic proxies."""
    times = {
        str(row["clusters"]): float(row["cycles"])
        for row in evidence.rows("clusters")
        if row["proxies"] == BASIC
    }
    return {count: time / times["3"] for count, time in times.items() if count != "3"}

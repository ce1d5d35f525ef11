"""Measures of the outcomes of chapter 6's experiments, for the claims."""

from itertools import pairwise
from statistics import median
from typing import Any

from homenode_studies.studies.bolosky.printed import styles
from homenode_studies.studies.claims import CLOSE, COMPARABLE, share
from homenode_studies.studies.tables import Evidence, Missing, Points

_BASE = {"cc+": 64, "cc": 64, "numa": 4096, "dsm+": 4096, "dsm": 4096}
_DOMINATES = (("cc+", "cc"), ("cc+", "numa"), ("numa", "dsm+"), ("dsm+", "dsm"), ("cc", "dsm"))

NUMA_WINS = ("gauss", "bsort", "kmerge", "sorbyr")
"""The programs for which NUMA beats CC+ on the base machines according to the thesis (section
6.2.1)."""
_BLOCK, _HALF_BLOCK = 339, 184
"""R of NUMA with 128 bytes and of CC+ with 64 (table 6.2)."""


def best_points(evidence: Evidence) -> Points:
    """The points of the optimum."""
    return Points(row for row in evidence.rows("outcomes") if row["policy"] == "optimal")


def base_cost(points: Points, program: str, machine: str) -> float:
    """The optimum's cost on a base machine, at that machine's block size."""
    return points.mcpr(program, machine, "optimal", _BASE[machine])


def base_ratio(evidence: Evidence, upper: str, lower: str) -> dict[str, float]:
    """Cost on one base machine divided by that on another, by program."""
    points = best_points(evidence)
    return {
        program: base_cost(points, program, upper) / base_cost(points, program, lower)
        for program in points.programs()
    }


def numa_by_tables(evidence: Evidence) -> dict[str, float]:
    """NUMA with 4 KB pages over CC+, as far as the thesis's tables allow.

    Table 6.5 has NUMA's costs with 4 KB and with 128 bytes, and table 6.4 by how much its best
    exceeds CC+'s best; 128 bytes are taken as NUMA's best. Programs without false sharing, for
    which small pages are expensive, are left out.
    """
    above = {row["program"]: float(row["numa"]) for row in evidence.rows("table-6.4")}
    return {
        row["program"]: row["numa_4k"] / row["uncorrected"] * (1 + above[row["program"]])
        for row in evidence.rows("table-6.5")
        if row["numa_4k"] > row["uncorrected"]
    }


def wins_by_table(thesis: Evidence) -> dict[str, float]:
    """The upper bound of NUMA with 4 KB pages over CC+, if NUMA beats CC+ in the thesis.

    It follows from table 6.5's costs of NUMA with 128-byte pages: a move of a page costs 339 there,
    and CC+ pays at least 184 for half of it. Remote references cost both the same.
    """
    found = {}
    for row in thesis.rows("table-6.5"):
        least_of_cc = 1 + (row["uncorrected"] - 1) * _HALF_BLOCK / _BLOCK
        if row["program"] in NUMA_WINS and row["numa_4k"] < least_of_cc:
            found[row["program"]] = row["numa_4k"] / least_of_cc
    return found


def size_ratio(evidence: Evidence, upper: str, lower: str, size: int) -> dict[str, float]:
    """Cost on one machine divided by that on another at the same block size, by program."""
    points = best_points(evidence)
    return {
        program: points.mcpr(program, upper, "optimal", size)
        / points.mcpr(program, lower, "optimal", size)
        for program in points.programs()
    }


def best_ratio(evidence: Evidence, machine: str, than: str = "cc+") -> dict[str, float]:
    """Cost at the best block size divided by that of another machine at its best, by program."""
    above = [{"cc+": 0.0, **row} for row in evidence.rows("table-6.4")]
    return {row["program"]: (1 + row[machine]) / (1 + row[than]) for row in above}


def share_above(ratios: dict[str, float], limit: float) -> float:
    """The share of programs whose ratio is above a limit."""
    return share(value > limit for value in ratios.values())


def share_below(ratios: dict[str, float], limit: float) -> float:
    """The share of programs whose ratio is at most a limit."""
    return share(value <= limit for value in ratios.values())


def violations(evidence: Evidence) -> list[str]:
    """Points at which a machine that should dominate costs more than the other."""
    points = best_points(evidence)
    return [
        f"{program} {upper}/{lower} {size} B"
        for program in points.programs()
        for upper, lower in _DOMINATES
        for size in points.sizes(program, upper)
        if points.mcpr(program, upper, "optimal", size)
        > points.mcpr(program, lower, "optimal", size) * (1 + 1e-9)
    ]


def spans(evidence: Evidence) -> tuple[float, float]:
    """The variation of cost with block size, and with the machine, as medians over programs.

    The first is the ratio of the most expensive to the cheapest block size on one machine, the
    second that of the most expensive to the cheapest machine at one block size; both are medians.
    """
    points = best_points(evidence)
    programs = points.programs()
    machines = list(_BASE)
    by_size, by_machine = [], []
    for program in programs:
        sizes = points.sizes(program, "numa")
        cost = {(m, s): points.mcpr(program, m, "optimal", s) for m in machines for s in sizes}
        by_size.append(median(_span([cost[m, s] for s in sizes]) for m in machines))
        by_machine.append(median(_span([cost[m, s] for m in machines]) for s in sizes))
    return median(by_size), median(by_machine)


def _span(values: list[float]) -> float:
    return max(values) / min(values)


def cheaper_when_smaller(evidence: Evidence, machine: str) -> float:
    """The share of programs that cost less with 64-byte than with 4 KB blocks."""
    points = best_points(evidence)
    return share(
        points.mcpr(p, machine, "optimal", 64) < points.mcpr(p, machine, "optimal", 4096)
        for p in points.programs()
    )


def numa_wins(evidence: Evidence) -> dict[str, float]:
    """Programs for which NUMA at 4 KB costs less than CC+ at 64 bytes, and their ratio."""
    return {p: r for p, r in base_ratio(evidence, "numa", "cc+").items() if r < 1}


def remote_value(evidence: Evidence) -> tuple[float, float]:
    """Median cost without remote reference over that with it (CC/CC+): 64 bytes and 4 KB."""
    return (
        median(size_ratio(evidence, "cc", "cc+", 64).values()),
        median(size_ratio(evidence, "cc", "cc+", 4096).values()),
    )


def remote_value_grows(evidence: Evidence) -> float:
    """The share of (program, pair, doubling) at which the value of remote reference grows."""
    points = best_points(evidence)
    flags = []
    for program in points.programs():
        for without, with_it in (("cc", "cc+"), ("dsm", "dsm+")):
            ratio = [
                points.mcpr(program, without, "optimal", s)
                / points.mcpr(program, with_it, "optimal", s)
                for s in points.sizes(program, without)
            ]
            flags += [b >= a * (1 - 1e-9) for a, b in pairwise(ratio)]
    return share(flags)


def best_sizes(evidence: Evidence, program: str) -> dict[str, int]:
    """The cheapest block size of a program on every machine."""
    points = best_points(evidence)
    return {machine: points.best(program, machine)[1] for machine in _BASE}


def eight_against_four(evidence: Evidence) -> float:
    """The share of programs that cost more than a tenth more on NUMA at 8 KB than at 4 KB."""
    points = best_points(evidence)
    ratios = {
        p: points.mcpr(p, "numa", "optimal", 8192) / points.mcpr(p, "numa", "optimal", 4096)
        for p in points.programs()
    }
    return share_above(ratios, CLOSE)


def below_64(evidence: Evidence) -> float:
    """Median cost on NUMA at 64 bytes divided by that at 128 bytes."""
    points = best_points(evidence)
    return median(
        points.mcpr(p, "numa", "optimal", 64) / points.mcpr(p, "numa", "optimal", 128)
        for p in points.programs()
    )


def sorbyr_rank(evidence: Evidence) -> float:
    """The share of (other program, machine, block size) where sorbyr costs less."""
    points = best_points(evidence)
    points.need("sorbyr")
    flags = [
        points.mcpr("sorbyr", m, "optimal", s) < points.mcpr(p, m, "optimal", s)
        for p in points.programs(but=["sorbyr"])
        for m in _BASE
        for s in points.sizes(p, m)
    ]
    return share(flags)


def policy_free(evidence: Evidence) -> float:
    """The largest relative difference between optimal and migrate on CC and DSM."""
    points = evidence.points()
    apart = 0.0
    for row in points.rows:
        if row["policy"] == "optimal" and row["machine"] in {"cc", "dsm"}:
            key = (row["program"], row["machine"], "migrate", row["block_size"])
            apart = max(apart, abs(row["mcpr"] / points.mcpr(*key) - 1))
    return apart


def software(evidence: Evidence, machine: str, overhead: int) -> dict[str, float]:
    """Cost at one o_s, 512-byte blocks, by program."""
    found = {
        row["program"]: row["mcpr"]
        for row in evidence.rows("software")
        if (row["machine"], row["o_s"]) == (machine, overhead)
    }
    if not found:
        raise Missing(f"{machine} with o_s = {overhead} was not simulated")
    return found


def software_growth(evidence: Evidence, machine: str) -> dict[str, float]:
    """Cost at ten times the thesis's o_s divided by that at the thesis's, by program."""
    more, usual = software(evidence, machine, 750), software(evidence, machine, 75)
    return {program: more[program] / usual[program] for program in usual}


def converges(evidence: Evidence) -> tuple[float, float]:
    """Median DSM over DSM+ at the smallest and at the largest o_s."""
    ends = []
    for overhead in (19, 1200):
        dsm, plus = software(evidence, "dsm", overhead), software(evidence, "dsm+", overhead)
        ends.append(median(dsm[p] / plus[p] for p in dsm))
    return ends[0], ends[1]


def uniform(evidence: Evidence) -> list[str]:
    """Programs whose NUMA, DSM+ and DSM costs grow by nearly the same factor with o_s."""
    growth = [software_growth(evidence, machine) for machine in ("numa", "dsm+", "dsm")]
    return [p for p in growth[0] if max(g[p] for g in growth) <= CLOSE * min(g[p] for g in growth)]


def uniform_limit(evidence: Evidence) -> dict[str, float]:
    """The largest MCPR at any o_s of the programs with the uniform pattern."""
    return {
        program: max(row["mcpr"] for row in evidence.rows("software") if row["program"] == program)
        for program in uniform(evidence)
    }


def size_beats_machine(evidence: Evidence) -> tuple[float, float]:
    """With o_s = 750: median effect of block size, and of the machine, on NUMA, DSM+ and DSM.

    The effect of block size is that on the base machines, because the sweep of o_s has one size.
    """
    by_size, _ = spans(evidence)
    dear = [software(evidence, m, 750) for m in ("numa", "dsm+", "dsm")]
    return by_size, median(max(d[p] for d in dear) / min(d[p] for d in dear) for p in dear[0])


def table_6_3(evidence: Evidence) -> list[str]:
    """Machines whose prices are not those of table 6.3."""
    ours = {row["machine"]: row for row in evidence.rows("table-6.3")}
    return [
        row["machine"]
        for row in evidence.printed("table-6.3")
        if (ours[row["machine"]]["r"], ours[row["machine"]]["R"]) != (row["r"], row["R"])
    ]


def move_4k(evidence: Evidence) -> tuple[float, float]:
    """The cost of moving 4 KB: with 64-byte lines on CC+, and as one page on NUMA."""
    prices = {row["machine"]: row for row in evidence.rows("table-6.3")}
    return 4096 / 64 * prices["cc+"]["R"], prices["numa"]["R"]


def absent(what: str) -> Any:
    """Raises that this run lacks something.

    Raises:
        Missing: always.
    """
    raise Missing(f"needs {what}, which this run does not have")


def monotone(evidence: Evidence, programs: tuple[str, ...]) -> list[str]:
    """The machines on which a program's cost falls although blocks grow, from 64 bytes up."""
    points = best_points(evidence)
    here = [program for program in programs if program in points.programs()]
    if not here:
        absent(", ".join(programs))
    found = []
    for program in here:
        for machine in _BASE:
            cost = [
                points.mcpr(program, machine, "optimal", size)
                for size in points.sizes(program, machine)
                if size >= 64
            ]
            if any(b < a * (1 - 1e-9) for a, b in pairwise(cost)):
                found.append(f"{program} on {machine}")
    return found


def rise(evidence: Evidence, program: str) -> float:
    """Cost on NUMA at the smallest block size divided by that at the best."""
    points = best_points(evidence)
    smallest = points.sizes(program, "numa") or absent(program)
    return points.mcpr(program, "numa", "optimal", smallest[0]) / points.best(program, "numa")[0]


def most_dependent(evidence: Evidence) -> str:
    """The program whose cost on DSM grows most with o_s."""
    growth = software_growth(evidence, "dsm")
    if "p-qsort" not in growth:
        absent("p-qsort")
    return max(growth, key=lambda program: growth[program])


def marginal(evidence: Evidence) -> float:
    """The share of the programs that do well on CC which do nearly as well on NUMA."""
    points = best_points(evidence)
    ratios = best_ratio(evidence, "numa", "cc")
    return share(r <= COMPARABLE for p, r in ratios.items() if points.best(p, "cc")[0] < 2)


def beyond_fifth(evidence: Evidence) -> list[str]:
    """Non-Presto programs whose best on NUMA is more than a fifth above CC's."""
    return [
        p
        for p, r in best_ratio(evidence, "numa", "cc").items()
        if r > COMPARABLE and styles()[p] != "presto"
    ]


def of_program(values: dict[str, float], program: str) -> float:
    """The value of one program.

    Raises:
        Missing: when it was not run.
    """
    return values[program] if program in values else float(absent(program))


def size_change(evidence: Evidence, upper: int, lower: int) -> dict[str, float]:
    """Cost on NUMA at one block size divided by that at another, by program."""
    points = best_points(evidence)
    return {
        p: points.mcpr(p, "numa", "optimal", upper) / points.mcpr(p, "numa", "optimal", lower)
        for p in points.programs()
    }


def often_remote(evidence: Evidence) -> float:
    """The share of programs whose optimum on NUMA at 4 KB refers remotely more than it moves."""
    points = best_points(evidence)
    rows = [points.at(p, "numa", "optimal", 4096) for p in points.programs()]
    return share(row["remote"] > row["moves"] for row in rows)


def best_at_most(evidence: Evidence, size: int) -> float:
    """The share of programs whose best block on NUMA is at most `size` bytes."""
    points = best_points(evidence)
    return share(points.best(program, "numa")[1] <= size for program in points.programs())


def presto_costs(evidence: Evidence) -> dict[str, float]:
    """The cost of the Presto programs on the base NUMA."""
    points = best_points(evidence)
    return {p: base_cost(points, p, "numa") for p in points.programs("presto")}

"""Measures of the outcomes of chapter 3's experiments, for the claims."""

from collections.abc import Iterable
from statistics import median

from homenode.options.tables import core_table
from homenode_studies.studies.programs import CALIBRATION
from homenode_studies.studies.tables import Evidence, Missing, Points, Row

PAGE = 4096
SMALLER = (4, 64, 512)
"""Block sizes besides pages at which the ACE's optimum is examined."""
_NOTHING = 0.01


def described(evidence: Evidence, column: str) -> dict[str, float]:
    """One column of the traces, by program; not those of section 3.2.2.

    Raises:
        Missing: when the traces are the thesis's and it does not print the column.
    """
    if any(column not in row for row in evidence.rows("traces")):
        raise Missing(f"table 2.1 has no {column}")
    return {
        row["program"]: float(row[column])
        for row in evidence.rows("traces")
        if row["style"] != CALIBRATION
    }


def private_share(evidence: Evidence) -> dict[str, float]:
    """The share of references to private memory, by program."""
    private = described(evidence, "private_millions")
    shared = described(evidence, "references_millions")
    return {p: private[p] / (private[p] + shared[p]) for p in private}


def numa(evidence: Evidence, size: int) -> dict[str, float]:
    """The optimum's MCPR on NUMA, by program."""
    points = traced(evidence)
    return {p: points.mcpr(p, "numa", "optimal", size) for p in points.programs()}


def chip_acceptance(evidence: Evidence) -> float:
    """The share of considered moves that chip made."""
    row = row_of(evidence.rows("chip-moves"), "chip")
    return float(row["made"] / row["considered"])


def best_size(evidence: Evidence, program: str, machine: str = "numa") -> int:
    """The cheapest of the block sizes simulated, on one machine."""
    return evidence.points().best(program, machine)[1]


def by_style(evidence: Evidence, size: int) -> dict[str, float]:
    """Median MCPR of every style on NUMA."""
    points, values = traced(evidence), numa(evidence, size)
    styles = dict.fromkeys(row["style"] for row in points.rows)
    styles.pop(CALIBRATION, None)
    return {style: median(values[p] for p in points.programs(style)) for style in styles}


def ours(evidence: Evidence, name: str, column: str) -> dict[str, float]:
    """One column of a table of ours, by program, without empty values."""
    return {
        row["program"]: float(row[column]) for row in evidence.rows(name) if row[column] is not None
    }


def printed(evidence: Evidence, name: str, column: str) -> dict[str, float]:
    """One column of a table of the thesis, by program, without empty values."""
    return {
        row["program"]: float(row[column])
        for row in evidence.printed(name)
        if row[column] is not None
    }


def apart(evidence: Evidence, name: str, column: str) -> dict[str, float]:
    """Ours minus the thesis's, for the programs that both have."""
    mine, theirs = ours(evidence, name, column), printed(evidence, name, column)
    return {p: mine[p] - theirs[p] for p in mine if p in theirs}


def slow_shares(evidence: Evidence) -> dict[str, float]:
    """Programs of table 3.2 whose printed share is not that of table 3.1's T_numa."""
    times = printed(evidence, "table-3.1", "t_numa")
    deltas, said = (
        printed(evidence, "table-3.2", "delta"),
        printed(evidence, "table-3.2", "share"),
    )
    return {p: deltas[p] / times[p] for p in deltas if abs(deltas[p] / times[p] - said[p]) > 0.001}


def mix(stores: float) -> float:
    """Global over local time for a mix of references, from section 3.1.1's microseconds."""
    return ((1 - stores) * 1.5 + stores * 1.4) / ((1 - stores) * 0.65 + stores * 0.84)


def limit_of_ace() -> float:
    """The default number of invalidations before a page is pinned."""
    entry = next(row for row in core_table("policies") if row["name"] == "ace")
    return float(next(p["default"] for p in entry["parameters"] if p["name"] == "limit"))


def traced(evidence: Evidence) -> Points:
    """The points of the traced programs, without those of section 3.2.2."""
    return Points(row for row in evidence.rows("outcomes") if row["style"] != CALIBRATION)


def other_limit(evidence: Evidence, program: str) -> float:
    """Cost of ACE with one invalidation allowed over that with four, on the ACE."""
    points = evidence.points()
    few, usual = (points.mcpr(program, "ace", p, PAGE) for p in ("ace:limit=1", "ace"))
    return few / usual


def ace_over(evidence: Evidence, policy: str = "ace") -> dict[str, float]:
    """Cost of a policy over the optimum's on the ACE, by program."""
    points = traced(evidence)
    return {
        p: points.mcpr(p, "ace", policy, PAGE) / points.mcpr(p, "ace", "optimal", PAGE)
        for p in points.programs()
    }


def falsely_shared(evidence: Evidence) -> dict[str, float]:
    """The optimum's savings on the ACE with smaller blocks, as a share of all possible savings.

    The possible savings are the difference between ACE's cost with pages and the optimum's with its
    best block size. The part that the optimum saves with smaller blocks cannot be saved by any
    placement of pages; false sharing accounts for at least that part, because smaller blocks also
    cost more moves. Programs are left out if less than a hundredth could be saved.
    """
    points = traced(evidence)
    found = {}
    for p in points.programs():
        pages, ace = (points.mcpr(p, "ace", policy, PAGE) for policy in ("optimal", "ace"))
        best = min(pages, *(points.mcpr(p, "ace", "optimal", size) for size in SMALLER))
        if ace / best > 1 + _NOTHING:
            found[p] = (pages - best) / (ace - best)
    return found


def local_gap(evidence: Evidence) -> dict[str, float]:
    """Local references of the optimum minus those of ACE, as a share of all, by program."""
    points = traced(evidence)
    found = {}
    for p in points.programs():
        ace, best = (points.at(p, "ace", policy, PAGE) for policy in ("ace", "optimal"))
        found[p] = (best["local"] - ace["local"]) / ace["accesses"]
    return found


def sandwiched(evidence: Evidence) -> list[str]:
    """Programs for which all-local <= optimum <= ACE does not hold on the ACE."""
    points = Points(evidence.rows("outcomes"))
    return [
        p
        for p in points.programs()
        if not 1
        <= points.mcpr(p, "ace", "optimal", PAGE) * (1 + 1e-9)
        <= points.mcpr(p, "ace", "ace", PAGE) * (1 + 2e-9)
    ]


def hit_ratio(evidence: Evidence) -> float:
    """Largest difference of alpha by equation 3.4 from the share of local references.

    The share is taken of the references to writable shared data, as far as the model has these.
    """
    alpha, local = (
        ours(evidence, "table-3.1", "alpha"),
        ours(evidence, "table-3.1", "local_share"),
    )
    return max(abs(alpha[p] - local[p]) for p in alpha)


def row_of(rows: Iterable[Row], program: str) -> Row:
    """The row of a program."""
    return next(row for row in rows if row["program"] == program)

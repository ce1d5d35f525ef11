"""Claims of chapter 4 about the model and the validity of traces."""

import math
from itertools import pairwise

from homenode_studies.studies.bolosky.ch4_perturbations import (
    PERTURBATIONS,
)
from homenode_studies.studies.claims import (
    Claim,
    below,
    empty,
)
from homenode_studies.studies.tables import Evidence, Row

_ROUNDING = 1e-9
_SLOPES = {"r": "remote", "g": "global", "R": "moves", "G": "moves"}


def proposition(evidence: Evidence, name: str) -> Row:
    """One small trace."""
    return next(row for row in evidence.rows("propositions") if row["trace"] == name)


def theorem_1(evidence: Evidence) -> float:
    """Largest relative error of corollary 1 over programs, machines and scales."""
    rows = evidence.rows("scaled")
    base = {(row["program"], row["machine"]): row["mcpr"] for row in rows if row["s"] == 1}
    errors = [
        row["mcpr"] / (1 + row["s"] * (base[row["program"], row["machine"]] - 1)) - 1
        for row in rows
    ]
    return max(abs(float(error)) for error in errors)


def sweep(evidence: Evidence, price: str) -> dict[str, list[Row]]:
    """The rows of every program at ascending values of one price."""
    found: dict[str, list[Row]] = {}
    for row in sorted(evidence.rows("sweeps"), key=lambda row: row["value"]):
        if row["price"] == price:
            found.setdefault(row["program"], []).append(row)
    return found


def not_concave(evidence: Evidence) -> list[str]:
    """Programs and prices whose curve falls, or bends upwards."""
    found = []
    for price in _SLOPES:
        for program, rows in sweep(evidence, price).items():
            slopes = [
                (b["mcpr"] - a["mcpr"]) / (b["value"] - a["value"]) for a, b in pairwise(rows)
            ]
            falls = any(slope < -_ROUNDING for slope in slopes)
            if falls or any(b > a + _ROUNDING for a, b in pairwise(slopes)):
                found.append(f"{program} against {price}")
    return found


def more_when_dearer(evidence: Evidence) -> list[str]:
    """Programs that do something more often when its price is higher."""
    found = []
    for price, what in _SLOPES.items():
        for program, rows in sweep(evidence, price).items():
            if any(b[what] > a[what] for a, b in pairwise(rows)):
                found.append(f"{program} against {price}")
    return found


def exceptions(evidence: Evidence, which: int) -> int:
    """The number of random traces for which one of the two properties does not hold."""
    return int(evidence.rows("properties")[which]["exceptions"])


def slow_global(evidence: Evidence) -> tuple[float, float]:
    """Cost of the best placement without global memory, and of one that copies through it."""
    row = evidence.rows("slow-global")[0]
    return row["without"], row["with"]


def placements(processors: int, references: int) -> tuple[float, float]:
    """Decimal logarithms: the thesis's n^(2^p), and the number for n reads, (2^p - 1)^n."""
    return (
        2**processors * math.log10(references),
        references * math.log10(2**processors - 1),
    )


_MODEL = (
    Claim(
        "4",
        "The optimal policy takes time proportional to reads plus writes times processors",
        "linear",
        why="a speed, which benches/ measures",
    ),
    Claim(
        "4.1.1",
        "With remote references cheaper than global ones, global memory is never worth using",
        "never",
        "one writer, seven readers, r = 5, g = 8, R = 2000, G = 1000: cost of the optimum without "
        "global memory, and of copying through global memory",
        slow_global,
        lambda pair: pair[0] <= pair[1],
        why="a copy costs G if global memory holds the block (equation 4.2), so a global memory "
        "that no processor references still saves if G < R",
        kind="printed",
    ),
    Claim(
        "4.1.5",
        "Proposition 1: the best placement of the first trace stays, at one remote reference",
        "20R + r",
        "optimal cost minus this",
        lambda e: (
            proposition(e, "T_1 of proposition 1")["optimum"]
            - proposition(e, "T_1 of proposition 1")["proof says"]
        ),
        lambda difference: difference == 0,
        kind="identity",
    ),
    Claim(
        "4.1.5",
        "Proposition 1: the best placement of the second trace moves once, so no on-line policy "
        "can be optimal",
        "20R + R",
        "optimal cost minus this",
        lambda e: (
            proposition(e, "T_2 of proposition 1")["optimum"]
            - proposition(e, "T_2 of proposition 1")["proof says"]
        ),
        lambda difference: difference == 0,
        kind="identity",
    ),
    Claim(
        "4.1.5",
        "Theorem 1 and corollary 1: scaling all prices beyond local by s scales the cost beyond "
        "local by s",
        "exact",
        "largest relative error over programs, ACE and Butterfly, s = 1/2, 2, 10",
        theorem_1,
        below(1e-9),
        kind="identity",
    ),
    Claim(
        "4.1.5",
        "The optimum's cost is continuous, non-decreasing, piecewise linear and concave in r, R, g "
        "and G",
        "always",
        "programs and prices for which the samples are not",
        not_concave,
        empty,
        kind="identity",
    ),
    Claim(
        "4.1.5",
        "If a price falls, the optimum does no less of the operation with that price",
        "always",
        "programs with more remote or global references or moves at a higher price",
        more_when_dearer,
        empty,
        kind="identity",
    ),
    Claim(
        "4.2",
        "The number of possible placements is of the order of n^(2^p)",
        "n^(2^p)",
        "decimal logarithms for 8 processors and 1,000 reads: this, and the true number",
        lambda _: placements(8, 1000),
        lambda pair: pair[0] >= pair[1],
        why="each of n reads may have any of 2^p - 1 sets: (2^p - 1)^n, which is far more",
        kind="printed",
    ),
    Claim(
        "4.2.1",
        "Without replication there is always an optimum that moves blocks only to the processor "
        "that references them",
        "always",
        "random traces for which this does not hold, considering all sequences of places",
        lambda e: exceptions(e, 0),
        below(0),
        kind="identity",
    ),
    Claim(
        "4.2.2",
        "The algorithm of figure 4.3 computes the optimum",
        "always",
        "optimal cost of a trace of 22 references, and what figure 4.3 returns",
        lambda e: (
            proposition(e, "counter-example to figure 4.3")["optimum"],
            proposition(e, "counter-example to figure 4.3")["figure 4.3"],
        ),
        lambda pair: pair[0] == pair[1],
        why="figure 4.3 never starts a read-run at the cheapest place among those it replicates to "
        "(docs/optimal.md)",
        kind="printed",
    ),
    Claim(
        "4.2.2",
        "Copies in a read-run may all be made at its beginning and need never be dropped before "
        "its end",
        "always",
        "random traces for which this does not hold, considering all sequences of places",
        lambda e: exceptions(e, 1),
        below(0),
        kind="identity",
    ),
)

CLAIMS = (*_MODEL, *PERTURBATIONS)

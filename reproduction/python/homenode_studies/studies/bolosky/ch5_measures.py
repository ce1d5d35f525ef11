"""Measures of the outcomes of chapter 5's experiments, for the claims."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from homenode_studies.studies.bolosky.platinum import BACKOFF, PLATINUM
from homenode_studies.studies.claims import CLOSE, TIE, mean, of, share
from homenode_studies.studies.tables import Evidence, Missing, Row

PAGE = 4096
_PROCESSORS, _REMOTE = 8, 15
"""The Butterfly's prices: r = 15 (section 5.1)."""
_ROUNDING = 1e-9
TWO_ROWS = (
    "checked: two rows of gauss share a page of 4 KB, and one is read by all while the other is "
    "still written. With pages of 2 KB, a row each, ACE costs 1.00 times as much as Delay on "
    "either machine, and 1.001 times the optimum on the ACE; in turns of ten it is as in turns of "
    "one"
)
"""Why gauss is expensive under ACE."""


def cost(evidence: Evidence, machine: str, policy: str) -> dict[str, float]:
    """MCPR by program."""
    points = evidence.points()
    return {p: points.mcpr(p, machine, policy, PAGE) for p in points.programs()}


def over_optimal(evidence: Evidence, machine: str, policy: str) -> dict[str, float]:
    """Cost of a policy divided by the optimum's, by program."""
    best = cost(evidence, machine, "optimal")
    return {p: value / best[p] for p, value in cost(evidence, machine, policy).items()}


def random_by_table(thesis: Evidence) -> float:
    """Random placement on the Butterfly, by the thesis's own prices and table 2.1.

    One of eight processors has a random page at home; private references are local. The mean is
    over the EPEX and C-threads programs.
    """
    anywhere = (1 + (_PROCESSORS - 1) * _REMOTE) / _PROCESSORS
    costs = []
    for row in thesis.rows("traces"):
        if row["style"] in {"epex", "c-threads"}:
            shared, private = row["references_millions"], row["private_millions"]
            costs.append((private + shared * anywhere) / (private + shared))
    return mean(costs)


def above_limit(values: dict[str, float], limit: float) -> dict[str, float]:
    """The programs whose value is above a limit by more than a tie."""
    return {p: value for p, value in values.items() if value > limit * (1 + TIE)}


def saving(evidence: Evidence, machine: str, policy: str) -> float:
    """The average share of the optimum's savings over static placement that a policy achieves.

    Static placement is global memory for all shared data on the ACE, and a random processor on the
    Butterfly. Programs for which the optimum saves less than a thousandth are left out.
    """
    static = cost(evidence, machine, "all-global" if machine == "ace" else "random")
    best, ours = cost(evidence, machine, "optimal"), cost(evidence, machine, policy)
    return mean(
        [(static[p] - ours[p]) / (static[p] - best[p]) for p in best if static[p] > 1.001 * best[p]]
    )


def savings(evidence: Evidence, machine: str, policy: str) -> dict[str, float]:
    """A policy's savings averaged over programs in both ways."""
    return {
        "mean share": saving(evidence, machine, policy),
        "share of the mean": total_saving(evidence, machine, policy),
    }


def total_saving(evidence: Evidence, machine: str, policy: str) -> float:
    """As `saving`, but compares the mean cost over programs instead of each program's share."""
    static = cost(evidence, machine, "all-global" if machine == "ace" else "random")
    best, ours = cost(evidence, machine, "optimal"), cost(evidence, machine, policy)
    return (sum(static.values()) - sum(ours.values())) / (sum(static.values()) - sum(best.values()))


def well_placed(evidence: Evidence) -> list[str]:
    """The programs that the thesis does not exclude: other than Presto and mp3d."""
    points = evidence.points()
    kept = [p for p in points.programs(but=["mp3d"]) if points.style(p) != "presto"]
    if not kept:
        raise Missing("needs a program other than Presto and mp3d")
    return kept


def plain(evidence: Evidence) -> list[str]:
    """The programs other than Presto and SPLASH."""
    return evidence.points().styles("epex", "c-threads")


def improvement(evidence: Evidence, machine: str, share_in_memory: float = 0.5) -> float:
    """Run time saved by the optimum against static placement, on average.

    A program is assumed to spend this share of its time in memory when everything is local.
    """
    static = cost(evidence, machine, "all-global" if machine == "ace" else "random")
    best = of(cost(evidence, machine, "optimal"), well_placed(evidence))
    return mean([saved(best[p], static[p], share_in_memory) for p in best])


def saved(best: float, static: float, share_in_memory: float = 0.5) -> float:
    """Run time saved by a lower MCPR if this share of a program's all-local time is in memory.

    >>> round(saved(1.26, 2), 3)
    0.247
    """
    rest = 1 - share_in_memory
    return 1 - (rest + share_in_memory * best) / (rest + share_in_memory * static)


def between_policies(evidence: Evidence, machine: str, ours: str, other: str) -> dict[str, float]:
    """Cost of one policy divided by that of another, by program."""
    divisor = cost(evidence, machine, other)
    return {p: value / divisor[p] for p, value in cost(evidence, machine, ours).items()}


def better_generally(ratios: dict[str, float]) -> tuple[float, float]:
    """A policy's cost over another's: the share of programs where it is less, and the median."""
    return share(ratio < 1 - TIE for ratio in ratios.values()), median(ratios.values())


def bad_moves(evidence: Evidence) -> dict[str, float]:
    """Moves of ACE on the ACE per move of Delay, if ACE makes more than a tenth more."""
    points = evidence.points()
    moves = {}
    for program in points.programs():
        ace = points.at(program, "ace", "ace", PAGE)["moves"]
        delay = points.at(program, "ace", "delay", PAGE)["moves"]
        if ace > CLOSE * max(delay, 1):
            moves[program] = ace / max(delay, 1)
    return moves


def backoff_moves(evidence: Evidence) -> dict[str, float]:
    """Moves of PLATINUM with exponential backoff over those without, on the Butterfly."""
    points = evidence.points()
    found = {}
    for program in points.programs():
        usual, less = (
            points.at(program, "butterfly", policy, PAGE)["moves"]
            for policy in (PLATINUM.name, BACKOFF.name)
        )
        if usual:
            found[program] = less / usual
    return found


def curves(evidence: Evidence, table: str, policy: str) -> dict[str, list[Row]]:
    """The rows of every program at ascending prices."""
    found: dict[str, list[Row]] = {}
    for row in sorted(evidence.rows(table), key=lambda row: row["price"]):
        if row["policy"] == policy:
            found.setdefault(row["program"], []).append(row)
    return found


def concave(evidence: Evidence, table: str) -> list[str]:
    """Programs whose optimal cost is not a non-decreasing concave function of the price."""
    bad = []
    for program, rows in curves(evidence, table, "optimal").items():
        slopes = [(b["mcpr"] - a["mcpr"]) / (b["price"] - a["price"]) for a, b in pairwise(rows)]
        rising = all(slope >= -_ROUNDING for slope in slopes)
        if not rising or any(b > a + _ROUNDING for a, b in pairwise(slopes)):
            bad.append(program)
    return bad


def outside_band(evidence: Evidence) -> list[str]:
    """Programs whose cost against G leaves the band allowed by the moves at either end.

    A move at R counts twice, since R is 2 G along that axis.
    """
    bad = []
    for program, rows in curves(evidence, "against_G", "optimal").items():
        for a, b in pairwise(row for row in rows if row["price"]):
            rise = (b["mcpr"] - a["mcpr"]) * a["accesses"]
            width = b["price"] - a["price"]
            low, high = (row["cost_moves"] / row["price"] * width for row in (b, a))
            if not low * (1 - 1e-6) - 1 <= rise <= high * (1 + 1e-6) + 1:
                bad.append(program)
                break
    return bad


def at_nothing(evidence: Evidence) -> float:
    """The largest optimal MCPR when moves are free."""
    rows = [
        row
        for table in ("against_G", "against_R")
        for row in evidence.rows(table)
        if row["price"] == 0 and row["policy"] == "optimal"
    ]
    return max(float(row["mcpr"]) for row in rows)


def straight(evidence: Evidence) -> float:
    """The largest relative distance of an on-line policy's cost from the chord of its curve."""
    apart = 0.0
    for table in ("against_G", "against_R"):
        for policy in ("ace", "delay", "platinum"):
            for rows in curves(evidence, table, policy).values():
                apart = max(apart, _bend(rows))
    return apart


def _bend(rows: Sequence[Row]) -> float:
    first, last = rows[0], rows[-1]
    slope = (last["mcpr"] - first["mcpr"]) / (last["price"] - first["price"])
    chord = [first["mcpr"] + slope * (row["price"] - first["price"]) for row in rows]
    return max(float(abs(row["mcpr"] / on - 1)) for row, on in zip(rows, chord, strict=True))


def below_optimal(evidence: Evidence) -> list[str]:
    """Points at which a policy costs less than the optimum."""
    found = []
    for table in ("against_G", "against_R"):
        best = {
            program: {row["price"]: row["mcpr"] for row in rows}
            for program, rows in curves(evidence, table, "optimal").items()
        }
        for policy in ("ace", "delay", "platinum"):
            for program, rows in curves(evidence, table, policy).items():
                found += [
                    f"{policy} {program} {row['price']}"
                    for row in rows
                    if row["mcpr"] < best[program][row["price"]] * (1 - _ROUNDING)
                ]
    return found


def everywhere_close(evidence: Evidence) -> dict[str, list[str]]:
    """Policies within a tenth of the optimum at every price, for programs whose curve bends.

    A curve bends when the optimum's cost rises by more than a tenth from a price of 200 up.
    """
    found = {}
    for program, rows in curves(evidence, "against_R", "optimal").items():
        best = {row["price"]: row["mcpr"] for row in rows if row["price"] >= 200}
        if max(best.values()) <= CLOSE * min(best.values()):
            continue
        close = [
            policy
            for policy in ("ace", "delay", "platinum")
            if all(
                row["mcpr"] <= CLOSE * best[row["price"]]
                for row in curves(evidence, "against_R", policy)[program]
                if row["price"] in best
            )
        ]
        if close:
            found[program] = close
    return found


def jumps(evidence: Evidence) -> tuple[float, float]:
    """The decrease of moves per page with growing G: near 512 and 1024, and elsewhere.

    Near means from 500 to 524 and from 1000 to 1036; the rest is from 200 to 2000. Both are changes
    of the logarithm of moves per unit of the logarithm of the price, averaged over programs.
    """
    near: list[float] = []
    far: list[float] = []
    for rows in curves(evidence, "against_G", "optimal").values():
        moves = {row["price"]: row["moves"] + 1 for row in rows}
        at = [p for p in sorted(moves) if 200 <= p <= 2000]
        for a, b in pairwise(at):
            fall = 1 - moves[b] / moves[a]
            (near if (a, b) in {(500, 524), (1000, 1036)} else far).append(fall / (b / a - 1))
    return mean(near), mean(far)


def faster_moves(evidence: Evidence) -> dict[str, float]:
    """Programs whose cost beyond local falls more than tenfold when R falls from 2000 to 200."""
    found = {}
    for program, rows in curves(evidence, "against_R", "optimal").items():
        beyond = {row["price"]: row["mcpr"] - 1 for row in rows}
        if beyond[200] > 0 and beyond[2000] / beyond[200] > 10:
            found[program] = beyond[2000] / beyond[200]
    return found


def steepest(evidence: Evidence, table: str) -> float:
    """The largest elasticity of the optimum: relative change of cost over that of the price."""
    top = 0.0
    for rows in curves(evidence, table, "optimal").values():
        for a, b in pairwise(row for row in rows if row["price"] >= 200):
            top = max(top, (b["mcpr"] / a["mcpr"] - 1) / (b["price"] / a["price"] - 1))
    return top


def fast_move_gain(evidence: Evidence) -> tuple[float, float]:
    """Median gain from a tenfold faster move: with r = 15 (R 2000 to 200), with g = 2 (same G)."""
    gains = []
    for table in ("against_R", "against_G"):
        ratios = []
        for rows in curves(evidence, table, "optimal").values():
            at = {row["price"]: row["mcpr"] for row in rows}
            ratios.append(at[2000] / at[200])
        gains.append(median(ratios))
    return gains[0], gains[1]


def pages(evidence: Evidence, program: str) -> Row:
    """The use of a program's pages."""
    for row in evidence.rows("pages"):
        if row["program"] == program:
            return row
    raise Missing(f"needs {program}, which this run does not have")


def best_policy(evidence: Evidence, program: str, price: int) -> str:
    """The cheapest on-line policy for a program at one price G."""
    rows = [
        row
        for row in evidence.rows("against_G")
        if (row["program"], row["price"]) == (program, price) and row["policy"] != "optimal"
    ]
    if not rows:
        raise Missing(f"needs {program}, which this run does not have")
    return str(min(rows, key=lambda row: row["mcpr"])["policy"])


def part(evidence: Evidence, name: str, low: int, high: int) -> tuple[float, float]:
    """One component of the optimum's cost for sorbyr at two prices G, per reference."""
    rows = curves(evidence, "against_G", "optimal").get("sorbyr")
    if rows is None:
        raise Missing("needs sorbyr, which this run does not have")
    at = {row["price"]: row[name] / row["accesses"] for row in rows}
    return at[low], at[high]


def migrating(evidence: Evidence) -> float:
    """The share of programs for which best-static costs a tenth more than the optimum.

    On the Butterfly.
    """
    values = over_optimal(evidence, "butterfly", "best-static")
    return share(value > CLOSE for value in values.values())


def presto_against_others(evidence: Evidence, machine: str, policy: str) -> tuple[float, float]:
    """Median MCPR of the Presto programs, and of the others."""
    points = evidence.points()
    values = cost(evidence, machine, policy)
    presto = points.programs("presto")
    return (
        median(values[p] for p in presto),
        median(values[p] for p in points.programs(but=presto)),
    )


def presto_medians(evidence: Evidence) -> dict[str, float]:
    """Median MCPR of the Presto programs over that of the others, at four points."""
    found = {}
    for machine, policy in (
        ("ace", "optimal"),
        ("butterfly", "optimal"),
        ("ace", "ace"),
        ("butterfly", "platinum"),
    ):
        presto, others = presto_against_others(evidence, machine, policy)
        found[f"{policy} on {machine}"] = presto / others
    return found


def of_program(evidence: Evidence, program: str) -> list[Row]:
    """The optimum's rows of one program against G, from 200 up."""
    rows = curves(evidence, "against_G", "optimal").get(program)
    if rows is None:
        raise Missing(f"needs {program}, which this run does not have")
    return [row for row in rows if row["price"] >= 200]

"""The exact curve of the optimum against the price of a move, without global memory."""

from collections.abc import Sequence
from itertools import pairwise

from homenode.engines.optimal import optimal
from homenode_studies.studies.cache import kept
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Evidence, Row, Table

PAGE = 4096
FIRST, LAST = 200, 16000
"""The range of figure 5.5."""
_MACHINE = "prices:r=15,R=59"
_ROUNDING = 1e-9


def pieces(context: StudyContext) -> list[Row]:
    """Every straight piece of the optimum's cost against R at r = 15, from R = 0, by program."""
    return [row for program in context.programs for row in _of(context, program)]


def _of(context: StudyContext, program: Program) -> list[Row]:
    with context.watch(f"optimum of {program.name} at every R") as step:
        found = kept(
            context.folder,
            optimal,
            context.trace(program),
            _MACHINE,
            PAGE,
            progress=step,
            force=True,
            curve=f"R=0..{LAST}",
            private=program.private,
        )
    context.note(Matrix([_MACHINE], ["optimal"], [PAGE]), found.provenance)
    outcome = found.rows[0]
    return [
        {
            "program": program.name,
            "from": piece["from"],
            "to": piece["to"],
            "slope": piece["slope"],
            "moves": piece["counts"]["remote_moves"],
            "cost_from": piece["cost_from"],
            "cost_to": piece["cost_to"],
            "mcpr_from": piece["mcpr_from"],
            "mcpr_to": piece["mcpr_to"],
            "accesses": outcome["accesses"],
        }
        for piece in outcome["curve"]["pieces"]
    ]


def by_program(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The pieces of every program, at ascending prices."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["program"], []).append(row)
    return found


def drawn(rows: Sequence[Row]) -> list[Row]:
    """The points of figure 5.5: where the curves begin, break and end."""
    points: list[Row] = []
    for program, curve in by_program(rows).items():
        shown = [row for row in curve if row["to"] > FIRST]
        first = shown[0]
        start = first["mcpr_from"]
        if first["from"] < FIRST:
            start += first["slope"] * (FIRST - first["from"]) / first["accesses"]
        points.append({"series": program, "x": max(first["from"], FIRST), "y": start})
        points += [{"series": program, "x": row["to"], "y": row["mcpr_to"]} for row in shown]
    return points


def summary(rows: Sequence[Row]) -> Table:
    """The number of breaks of each curve, and its numbers of moves at both ends."""
    found: list[Row] = []
    for program, curve in by_program(rows).items():
        falls = [(a["moves"] - b["moves"], b["from"]) for a, b in pairwise(curve)]
        largest = max(falls, default=(0, None))
        found.append(
            {
                "program": program,
                "breaks": len(curve) - 1,
                "moves at R = 0": curve[0]["moves"],
                f"moves at R = {LAST}": curve[-1]["moves"],
                "largest fall": largest[0],
                "at R": largest[1],
            }
        )
    return Table(
        "breaks-of-figure-5.5",
        "breaks of the optimum's curve against R (r = 15, no global memory, R up to 16000)",
        found,
        "Not a table of the thesis. The curve is exact; its slope is the number of moves.",
    )


def not_concave(evidence: Evidence) -> list[str]:
    """Programs whose curve against R has a gap, falls, or gets steeper at a break."""
    return [
        program
        for program, curve in by_program(evidence.rows("curve-against-R")).items()
        if curve[-1]["slope"] < 0
        or any(
            b["slope"] >= a["slope"]
            or abs(b["cost_from"] - a["cost_to"]) > _ROUNDING * a["cost_to"]
            or b["from"] != a["to"]
            for a, b in pairwise(curve)
        )
    ]


def slope_is_not_moves(evidence: Evidence) -> list[str]:
    """Programs with a piece that does not rise by its moves times its length."""
    return sorted(
        {
            row["program"]
            for row in evidence.rows("curve-against-R")
            if row["slope"] != row["moves"]
            or abs(row["cost_from"] + row["moves"] * (row["to"] - row["from"]) - row["cost_to"])
            > _ROUNDING * row["cost_to"]
        }
    )


def steepest(evidence: Evidence) -> float:
    """The largest elasticity from R = 200 up; within a piece it grows with the price."""
    return max(
        float(row["slope"] * row["to"] / row["cost_to"])
        for row in evidence.rows("curve-against-R")
        if row["to"] >= FIRST
    )

"""Claims of section 4.3 about perturbed traces."""

from collections.abc import Callable
from statistics import median

from homenode_studies.studies.bolosky.printed import thesis
from homenode_studies.studies.claims import (
    Claim,
    below,
    disagreement,
    empty,
    more_than,
)
from homenode_studies.studies.tables import Evidence, Missing

_LARGE = 0.05
# The largest changes according to the text, in per cent, by column of table 4.1.
_STATED = {
    "local_ace": 0.007,
    "local_butterfly": 0.01,
    "local_numa": 0.8,
    "local_cc": 11.0,
    "gap_ace": 0.06,
    "gap_butterfly": 0.34,
    "gap_numa": 2.0,
    "gap_cc": 3.5,
}


def largest(evidence: Evidence, kind: str) -> dict[str, float]:
    """The largest absolute change of the optimum on every machine under one filter."""
    found: dict[str, float] = {}
    for row in evidence.rows("changes"):
        if row["filter"] == kind and row["policy"] == "optimal":
            found[row["machine"]] = max(found.get(row["machine"], 0.0), abs(row["change"]))
    return found


def stated_changes(evidence: Evidence, kind: str, *machines: str) -> dict[str, float]:
    """The largest changes on some machines."""
    return {machine: largest(evidence, kind)[machine] for machine in machines}


def at_most_stated(kind: str) -> Callable[[dict[str, float]], bool]:
    """Whether the changes are at most those in the text."""
    return lambda found: all(
        change <= _STATED[f"{kind}_{machine}"] / 100 for machine, change in found.items()
    )


def large_on_cc(evidence: Evidence) -> dict[str, float]:
    """Programs whose optimum changes by more than 5 % on CC under the local filter."""
    return {
        row["program"]: float(row["change"])
        for row in evidence.rows("changes")
        if (row["filter"], row["machine"]) == ("local", "cc") and abs(row["change"]) > _LARGE
    }


def programs(evidence: Evidence) -> list[str]:
    """All programs in order."""
    return list(dict.fromkeys(row["program"] for row in evidence.rows("changes")))


def shifts(evidence: Evidence) -> dict[str, tuple[float, float]]:
    """By program of figure 4.4: mean shift of the perturbed runs, and their spread, relative."""
    found = {}
    rows = evidence.rows("seeds")
    for program in dict.fromkeys(row["group"] for row in rows):
        plain = next(r["x"] for r in rows if r["group"] == program and r["tick"])
        moved = [r["x"] for r in rows if r["group"] == program and not r["tick"]]
        found[program] = (
            sum(moved) / len(moved) / plain - 1,
            (max(moved) - min(moved)) / plain,
        )
    return found


def on_line(evidence: Evidence) -> dict[str, float]:
    """Median absolute change on the ACE and the Butterfly: the optimum, their own policies."""
    found: dict[str, list[float]] = {"optimal": [], "on-line": []}
    for row in evidence.rows("changes"):
        if row["machine"] in {"ace", "butterfly"}:
            kind = "optimal" if row["policy"] == "optimal" else "on-line"
            found[kind].append(abs(row["change"]))
    return {kind: median(values) for kind, values in found.items()}


def largest_on_line(evidence: Evidence) -> float:
    """The largest absolute change of an on-line policy."""
    return max(
        abs(float(row["change"])) for row in evidence.rows("changes") if row["policy"] != "optimal"
    )


def both_ways(evidence: Evidence) -> tuple[int, int]:
    """The numbers of decreases and increases of the optimum."""
    found = [r["change"] for r in evidence.rows("changes") if r["policy"] == "optimal"]
    return sum(change < 0 for change in found), sum(change > 0 for change in found)


def text_against_table(evidence: Evidence) -> dict[str, float]:
    """Columns of the thesis's table 4.1 whose largest entry differs from its text, in per cent."""
    rows = evidence.printed("table-4.1")
    tops = {column: max(row[column] for row in rows) for column in _STATED}
    return {column: top for column, top in tops.items() if top != _STATED[column]}


def most_changed(evidence: Evidence) -> str:
    """The program whose optimum changes most on CC under the local filter."""
    found: dict[str, float] = {
        row["program"]: abs(row["change"])
        for row in evidence.rows("changes")
        if (row["filter"], row["machine"], row["policy"]) == ("local", "cc", "optimal")
    }
    if "cholesky" not in found:
        raise Missing("needs cholesky, which this run does not have")
    return max(found, key=lambda program: found[program])


_LINES = (
    "checked: plytrace changes because lines of 64 bytes hold pieces of two tiles; with 32 bytes "
    "it changes by 0.02 %. Presto's own work for a thread dilutes the effect on the others: with "
    "stacks of 64 words instead of 1,024 p-gauss changes by 11.6 % and p-qsort by 5.7 %. p-life "
    "changes by 0.04 %, also with its rows distributed cyclically, and by 7.9 % with its columns "
    "distributed cyclically, so that each line has cells of eight threads. Not explained: cholesky "
    "has 0.3 %, 0.2 as recorded, 0.9 with a grid of 16, 0.2 without the locks of panels; with a "
    "grid of 24 0.7, 0.6 with panels row by row, 0.3 with a panel for each column"
)

PERTURBATIONS = (
    Claim(
        "4.3",
        "The ACE's tracer slows a program down by two to three orders of magnitude",
        "100 to 1000",
        why="needs the ACE's tracer",
    ),
    Claim(
        "4.3",
        "Possible errors of interleaving have little effect on the optimum on ACE, Butterfly, NUMA",
        "little",
        "largest change under either filter",
        lambda e: {
            m: max(largest(e, kind)[m] for kind in ("local", "gap"))
            for m in ("ace", "butterfly", "numa")
        },
        below(0.1),
        "%",
    ).tried_on(thesis),
    Claim(
        "4.3",
        "Local perturbation changes the optimum by at most .007 % on the ACE, .01 % on the "
        "Butterfly, .8 % on NUMA",
        ".007, .01, .8 %",
        "largest changes",
        lambda e: stated_changes(e, "local", "ace", "butterfly", "numa"),
        at_most_stated("local"),
        "%",
        contradicted="table 4.1 has .03 % for e-nasa and matmult on the Butterfly",
    ).tried_on(thesis),
    Claim(
        "4.3",
        "On CC local perturbation changes some programs much, cholesky most",
        "11 %",
        "the program that changes most",
        most_changed,
        lambda name: name == "cholesky",
        why=_LINES,
    ).tried_on(thesis),
    Claim(
        "4.3",
        "The programs that change much on CC are cholesky, p-gauss, p-qsort and p-life",
        "5 to 11 %",
        "programs named but not found, or found but not named; found means more than 5 %",
        lambda e: disagreement(
            large_on_cc(e), ("cholesky", "p-gauss", "p-qsort", "p-life"), programs(e)
        ),
        empty,
        why=_LINES,
    ).tried_on(thesis),
    Claim(
        "4.3",
        "Where local perturbation changes much, it raises the cost: references cross "
        "synchronisation",
        "higher",
        "mean shift of several seeds",
        lambda e: {p: shift for p, (shift, _) in shifts(e).items()},
        more_than(0.0),
        "%",
        why="nothing changes much here: the largest shift is 0.64 %, and the one below zero 0.07 "
        "%. In recordings with the compiler's hooks, in which a lock was a single reference, "
        "the shifts were 0.28, 3, 0.75 and 0.14 %",
    ),
    Claim(
        "4.3",
        "Runs with different seeds cost nearly the same, compared with their distance from the "
        "unmodified trace",
        "too slight to show",
        "spread over shift",
        lambda e: {p: spread / abs(shift) for p, (shift, spread) in shifts(e).items() if shift},
        below(0.1),
        why="checked: cholesky and p-qsort fail, whose shifts are below 0.08 %. With shifts as "
        "large as the thesis's, obtained with stacks of 64 words instead of 1,024 for "
        "Presto's threads, it is 0.008 in p-gauss and 0.027 in p-qsort (recorded with the "
        "compiler's hooks)",
    ),
    Claim(
        "4.3",
        "Gaps change the optimum by at most .06 % on the ACE, .34 % on the Butterfly, 2 % on "
        "NUMA, "
        "3.5 % on CC",
        ".06, .34, 2, 3.5 %",
        "largest changes",
        lambda e: stated_changes(e, "gap", "ace", "butterfly", "numa", "cc"),
        at_most_stated("gap"),
        "%",
        contradicted="table 4.1 has 3 % for plytrace on NUMA",
    ).tried_on(thesis),
    Claim(
        "4.3",
        "All changes are below 20 %, much less than the effects of chapter 6",
        "20 %",
        "largest change under either filter on any machine",
        lambda e: max(max(largest(e, kind).values()) for kind in ("local", "gap")),
        below(0.2),
        "%",
    ).tried_on(thesis),
    Claim(
        "4.3",
        "The largest changes that the text names are those of table 4.1",
        "eight numbers",
        "columns of the thesis's table with a different maximum, in per cent",
        text_against_table,
        empty,
        why="the thesis's text and table do not agree",
        kind="printed",
    ),
    Claim(
        "4.3",
        "Disturbed traces sometimes cost less and sometimes more",
        "both",
        "falls and rises of the optimum",
        both_ways,
        lambda pair: min(pair) > 0,
    ),
    Claim(
        "4.3",
        "On-line policies change somewhat more than the optimum",
        "somewhat larger",
        "median change on the ACE and the Butterfly",
        on_line,
        lambda found: found["on-line"] > found["optimal"],
        "%",
    ),
    Claim(
        "4.3",
        "Even for on-line policies the changes are small",
        "small",
        "largest change",
        largest_on_line,
        below(0.1),
        "%",
        "checked: the exception is p-gauss under PLATINUM with gaps, 12 to 22 % with four seeds; "
        "which pages freeze is chance: it costs 5.8 with t1 = 26,328 and 4.9 with 2,633. The "
        "thesis means small relative to the effect of block size, which is 7.6-fold for p-gauss on "
        "NUMA",
    ),
)

"""The ACE's page manager on our traces, and the thesis's equations applied to its own times."""

from collections.abc import Sequence

from homenode.engines.pmap import pmap
from homenode_studies.alphabeta import table_3_1
from homenode_studies.studies.bolosky.ch3_measures import ours
from homenode_studies.studies.claims import chosen
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.programs import Program
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Row, Table

PAGE = 4096
_MUCH = 0.1
_RESULTS = ("alpha", "beta", "gamma")


def managed(context: StudyContext) -> list[Row]:
    """Runs the page manager of section 3.1.3 on every trace; times are in seconds of the ACE."""
    return [_managed(context, program) for program in context.programs]


def _managed(context: StudyContext, program: Program) -> Row:
    with context.watch(f"managing the pages of {program.name}") as step:
        report = pmap(context.trace(program), PAGE, progress=step)
    everywhere = report["all_global"]["kernel_time_s"]
    kernel, user = report["kernel_time"]["total_s"], report["reference_time_s"]
    return {
        "program": program.name,
        "style": program.style,
        "pages": report["pages"],
        "pinned": report["final_states"]["global-writable"],
        "faults": report["counts"]["faults"],
        "alpha": report["locality"]["alpha"],
        "global_to_local": report["locality"]["global_to_local"],
        "s_numa": kernel,
        "s_global": everywhere,
        "delta": kernel - everywhere,
        "t_numa": user,
        "share": (kernel - everywhere) / user,
    }


def tables(rows: Sequence[Row]) -> list[Table]:
    """Table 3.2 from the manager's kernel times, and its actions on the pages."""
    times = ("program", "s_numa", "s_global", "delta", "t_numa", "share")
    states = ("program", "pages", "pinned", "faults", "alpha", "global_to_local")
    return [
        Table(
            "table-3.2",
            "kernel time in seconds of the ACE: with the page manager, with all pages global",
            [{name: row[name] for name in times} for row in rows],
            "t_numa is the time of the references, less than a program's user time.",
        ),
        Table(
            "page-manager",
            "4 KB pages under the ACE's page manager",
            [{name: row[name] for name in states} for row in rows],
            "Not a table of the thesis. Alpha: local references among those to pages ever written.",
        ),
    ]


def recomputed() -> Table:
    """The thesis's equations applied to its own times of table 3.1."""
    printed = {row["program"]: row for row in published("bolosky")["table-3.1"]}
    rows: list[Row] = []
    for found in table_3_1():
        entry: Row = {"program": found["program"]}
        for name in _RESULTS:
            entry |= {f"{name} printed": printed[found["program"]][name], name: found[name]}
        entry |= {f"{name} differs": found["differs"].get(name) for name in _RESULTS}
        rows.append(entry)
    return Table(
        "table-3.1-recomputed",
        "alpha, beta and gamma as printed, and from the printed times by equations 3.1, 3.4, 3.5",
        rows,
        "Times and results are taken as rounded to the digits printed.",
    )


def not_following(evidence: Evidence, column: str) -> dict[str, float]:
    """Programs whose printed value does not follow from the printed times, and the true value."""
    return {
        str(row["program"]): float(row[column])
        for row in evidence.rows("table-3.1-recomputed")
        if row[f"{column} differs"] is not None
    }


def kernel_ratio(evidence: Evidence, *programs: str) -> dict[str, float]:
    """Kernel time with the page manager over that with all pages global."""
    with_it, without = (
        chosen(ours(evidence, "table-3.2", name), *programs) for name in ("s_numa", "s_global")
    )
    return {p: with_it[p] / without[p] for p in programs}


def alpha_apart(evidence: Evidence) -> dict[str, float]:
    """Alpha under the page manager minus the thesis's of table 3.1."""
    mine = ours(evidence, "page-manager", "alpha")
    return {
        row["program"]: mine[row["program"]] - row["alpha"]
        for row in evidence.printed("table-3.1")
        if row["alpha"] is not None and row["program"] in mine
    }


def private_above_alpha(thesis: Evidence) -> dict[str, float]:
    """By how much table 2.1's share of private references exceeds table 3.1's alpha, if it does.

    Private references are always local, so alpha cannot be less than that share.
    """
    alphas = {row["program"]: row["alpha"] for row in thesis.printed("table-3.1")}
    found = {}
    for row in thesis.rows("traces"):
        private, alpha = row["private_millions"], alphas.get(row["program"])
        share = private / (private + row["references_millions"])
        if alpha is not None and share > alpha:
            found[str(row["program"])] = float(share - alpha)
    return found


def mostly_global(rows: Sequence[Row]) -> dict[str, float]:
    """The share of global references of three programs by their alphas, where above a tenth."""
    alphas = {row["program"]: row["alpha"] for row in rows}
    return {p: 1 - alphas[p] for p in ("e-nasa", "e-hyd", "plytrace") if alphas[p] < 1 - _MUCH}

"""Advice on objects compared with re-alignment of words: our own step beyond the paper.

Re-alignment moves single words, again in every window, with knowledge of the future. Advice moves
whole objects or their parts once, which a programmer can do.
"""

from collections.abc import Sequence

from homenode.engines.advise import advise
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.markatos.costs import Costs
from homenode_studies.studies.markatos.points import MACHINE
from homenode_studies.studies.tables import Row, Table

PAGE = 4096
POLICIES = ("upt", "inv")


def found(context: StudyContext) -> list[Row]:
    """Advice for every program with pages of 4 KB, a row for each policy."""
    rows: list[Row] = []
    for program in context.programs:
        with context.watch(f"advising on {program.name}") as step:
            result = advise(
                context.trace(program), MACHINE, POLICIES, PAGE, progress=step, sync="exclude"
            )
        for point in result.points:
            pieces = result.at(point)
            rows.append(
                {
                    "program": program.name,
                    "policy": point["policy"],
                    "advised": point["after"]["mcpr"],
                    "extra_bytes": point["extra_bytes"],
                    "pieces": len(pieces),
                    "first": pieces[0]["sentence"] if pieces else "none",
                }
            )
    return rows


def table(costs: Costs, rows: Sequence[Row], reports: Sequence[Row]) -> Table:
    """The share of re-alignment's gain that the advised objects reach, and their memory."""
    memory = {
        report["program"]: report["new_bytes"] for report in reports if report["page_size"] == PAGE
    }
    return Table(
        "advice",
        "advice on objects beside re-alignment of words, pages of 4 KB",
        [_row(costs, row, memory[row["program"]]) for row in rows],
        "Not a table of the paper. Normalised latency; gain reached: savings of advice relative to "
        "those of re-alignment saves.",
    )


def _row(costs: Costs, row: Row, new_bytes: int) -> Row:
    point = (row["program"], row["policy"], PAGE.bit_length() - 1)
    plain, moved = costs.cost(*point), costs.cost(*point, realigned=True)
    return {
        "program": row["program"],
        "policy": row["policy"],
        "as it is": plain,
        "words re-aligned": moved,
        "objects as advised": row["advised"],
        "gain reached": (plain - row["advised"]) / (plain - moved) if plain > moved else None,
        "MB of re-alignment": new_bytes / 1e6,
        "MB of advice": row["extra_bytes"] / 1e6,
        "pieces of advice": row["pieces"],
        "first piece": row["first"],
    }

"""First-touch placement with reactive proxies, compared with either placement without."""

from collections.abc import Sequence

from homenode_studies.studies import driven
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Row, Table
from homenode_studies.studies.talbot import (
    PAPER,
    beyond,
    figures,
    notes,
    runs,
    tables,
    versions,
    winning,
)
from homenode_studies.studies.talbot.bars import NAME, Bars, of_points
from homenode_studies.studies.talbot.claims import CLAIMS


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of every program."""
    before = [tables.machine(), driven.table(context, *runs.driven())]
    return products(runs.simulated(context), runs.versions(context), before)


def products(
    points: list[Row], others: Sequence[Row] = (), before: Sequence[Table] = ()
) -> Products:
    """Tables, figures and evidence of simulated points, after some tables.

    Args:
        points: of the programs.
        others: of their other versions.
        before: the tables.
    """
    rows = of_points(points)
    ours, further = Bars(rows), beyond.Points(points)
    differently = versions.table(others, ours)
    made = [
        *before,
        tables.promise(ours),
        tables.queues(ours),
        tables.sides(ours),
        tables.details(points),
        *([differently] if others else []),
        *beyond.tables(further),
    ]
    extra = {"points": points, "versions": list(others), NAME: rows}
    said = (*notes.of(), *versions.notes(differently))
    return Products(made, figures.figures(ours), extra, said, winning.pictures(further))


def with_seed(context: StudyContext) -> Products:
    """Simulates the paper's configurations with another seed."""
    points = runs.simulated(context, beyond_paper=False)
    return Products((), (), {"points": points, NAME: of_points(points)})


ENTRY = Study(
    name="talbot",
    summary="First-touch placement with reactive proxies, compared with either placement without",
    source="Talbot and Kelly 2000, figures 1.5 to 1.10, table 1.4",
    experiments=experiments,
    publication=PAPER,
    claims=CLAIMS,
    with_seed=with_seed,
)
"""The study."""

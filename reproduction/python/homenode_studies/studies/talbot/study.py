"""First-touch placement with reactive proxies, compared with either placement without."""

from collections.abc import Sequence

from homenode_studies.studies import driven
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Row, Table
from homenode_studies.studies.talbot import PAPER, beyond, figures, notes, runs, tables, winning
from homenode_studies.studies.talbot.bars import NAME, Bars, of_points
from homenode_studies.studies.talbot.claims import CLAIMS


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of every program."""
    before = [tables.machine(), driven.table(context, *runs.driven())]
    return products(runs.simulated(context), before)


def products(points: list[Row], before: Sequence[Table] = ()) -> Products:
    """Tables, figures and evidence of simulated points, after some tables."""
    rows = of_points(points)
    ours, further = Bars(rows), beyond.Points(points)
    made = [
        *before,
        tables.promise(ours),
        tables.queues(ours),
        tables.sides(ours),
        tables.details(points),
        *beyond.tables(further),
    ]
    extra = {"points": points, NAME: rows}
    return Products(made, figures.figures(ours), extra, notes.of(), winning.pictures(further))


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

"""First-touch placement with reactive proxies against either placement without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.studies.entry import Products, Study
from homenode.studies.talbot import PAPER, beyond, figures, notes, runs, tables, winning
from homenode.studies.talbot.bars import NAME, Bars, of_points
from homenode.studies.talbot.claims import CLAIMS, STATED

if TYPE_CHECKING:
    from homenode.studies.context import StudyContext
    from homenode.studies.tables import Row


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of every program."""
    return products(runs.simulated(context))


def products(points: list[Row]) -> Products:
    """Tables, figures and evidence of simulated points."""
    rows = of_points(points)
    ours, further = Bars(rows), beyond.Points(points)
    made = [
        tables.promise(ours),
        tables.queues(ours),
        tables.sides(ours),
        tables.details(points),
        *beyond.tables(further),
        tables.own_statements(STATED),
    ]
    extra = {"points": points, NAME: rows}
    return Products(made, figures.figures(ours), extra, notes.of(), winning.pictures(further))


ENTRY = Study(
    name="talbot",
    summary="First-touch placement with reactive proxies against either placement without",
    source="Talbot and Kelly 2000, figures 1.5 to 1.10, table 1.4",
    experiments=experiments,
    publication=PAPER,
    claims=CLAIMS,
)
"""The study."""

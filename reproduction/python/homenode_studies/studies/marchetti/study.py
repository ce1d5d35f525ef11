"""Simple policies of page placement, with coherence in hardware and in software."""

from homenode_studies.studies import driven
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.marchetti import PAPER, figures, notes, offline, pages, runs, tables
from homenode_studies.studies.marchetti.claims import CLAIMS


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of every program, and finds the optimum in hindsight."""
    protocols = runs.accepted()
    points = runs.simulated(context, protocols)
    others = runs.versions(context, protocols)
    more = runs.beside(context, protocols)
    best = offline.found(context)
    found, beside = runs.Runs(points), runs.Runs(more)
    flits = tables.flits(found)
    made = [
        tables.machine(),
        tables.times(found),
        tables.blocks(found),
        *tables.replication(found),
        tables.homes(found),
        tables.allocating(found, beside),
        *tables.one_trip(found, beside),
        tables.optimum(found, best),
        tables.advice(found),
        tables.variations(found),
        *(table for table in (flits, tables.versions(runs.Runs(others))) if table.rows),
        driven.table(context, *runs.driven()),
    ]
    extra = {"points": points, "versions": others, "beside": more, "offline": best}
    said = notes.of(found, flits, quick=context.quick)
    return Products(made, figures.figures(found), extra, said, pages.pictures(context))


def with_seed(context: StudyContext) -> Products:
    """Simulates the configurations with another seed."""
    return Products((), (), {"points": runs.simulated(context, runs.accepted())})


ENTRY = Study(
    name="marchetti",
    summary="Simple policies of page placement, with coherence in hardware and in software",
    source="Marchetti, Kontothanassis, Bianchini and Scott 1995, table 1, figures 1 to 5",
    experiments=experiments,
    publication=PAPER,
    claims=CLAIMS,
    with_seed=with_seed,
)
"""The study."""

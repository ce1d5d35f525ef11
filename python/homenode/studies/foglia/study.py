"""An e-commerce server on a shared bus: caches, scheduling and coherence protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.studies.entry import Products, Study
from homenode.studies.foglia import (
    EC,
    PAPER,
    bands,
    figures,
    footprints,
    latency,
    notes,
    runs,
    tables,
)
from homenode.studies.foglia.claims import CLAIMS
from homenode.studies.foglia.matrix import BLOCKS
from homenode.studies.published import tables as published
from homenode.studies.tables import Table

if TYPE_CHECKING:
    from homenode.studies.context import StudyContext


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of the paper on every mix, and counts what they touch."""
    points = runs.simulated(context)
    found = runs.Runs(points)
    touched = footprints.counted(context)
    made = [*tables.of_traces(touched), tables.timing(BLOCKS)]
    if EC in found.workloads():
        made += [tables.scalability(found), tables.stated(found), latency.delays(found)]
        made += bands.tables(context)
    made += [tables.protocols(found), latency.origins(found), latency.idle(found)]
    made.append(_contradictions())
    extra = {"points": points, "footprints": touched}
    said = (*notes.of(points, quick=context.quick), latency.told(found))
    return Products(made, figures.figures(found), extra, said)


def _contradictions() -> Table:
    """Where the paper says two things."""
    rows = published(PAPER.name)["own-contradictions"]
    return Table("own-contradictions", "where the paper contradicts itself", rows)


ENTRY = Study(
    name="foglia",
    summary="An e-commerce server on a shared bus: caches, scheduling and coherence protocols",
    source="Foglia, Giorgi and Prete 2004, tables 1 to 5, figures 2 to 22",
    experiments=experiments,
    publication=PAPER,
    claims=CLAIMS,
)

"""An e-commerce server on a shared bus: caches, scheduling and coherence protocols."""

from dataclasses import replace

from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.foglia import (
    PAPER,
    bands,
    break_even,
    break_even_picture,
    dials,
    statistics,
)
from homenode_studies.studies.foglia.claims import CLAIMS
from homenode_studies.studies.foglia.products import products
from homenode_studies.studies.foglia.runs import simulated
from homenode_studies.studies.foglia.variants import VARIANTS
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Table


def experiments(context: StudyContext) -> Products:
    """Simulates every configuration of the paper on every mix, and counts the mixes' footprints."""
    made = products(context)
    found = _places(context, made)
    further = [*bands.tables(context), break_even.table(found), _contradictions()]
    pictures = [*made.pictures, break_even_picture.picture(found)]
    return replace(made, tables=[*made.tables, *further], pictures=pictures)


def _places(context: StudyContext, recorded: Products) -> list[break_even.Place]:
    """The paper, our recordings and, if the study is not quick, workloads from statistics."""
    found = [break_even.of_paper()]
    found += break_even.places(break_even.OF_RECORDINGS, recorded.extra["points"])
    if context.quick:
        return found
    made = simulated(statistics.made(context), lambda _: statistics.MACHINE)
    return [*found, *break_even.places(break_even.OF_STATISTICS, made), *dials.sessions(context)]


def with_seed(context: StudyContext) -> Products:
    """Simulates every configuration of the paper with another seed."""
    return Products((), (), {"points": simulated(context)})


def _contradictions() -> Table:
    """Contradictions in the paper."""
    rows = published(PAPER.name)["own-contradictions"]
    return Table("own-contradictions", "where the paper contradicts itself", rows)


ENTRY = Study(
    name="foglia",
    summary="An e-commerce server on a shared bus: caches, scheduling and coherence protocols",
    source="Foglia, Giorgi and Prete 2004, tables 1 to 5, figures 2 to 22",
    experiments=experiments,
    publication=PAPER,
    claims=CLAIMS,
    variants=VARIANTS,
    with_seed=with_seed,
    beside=statistics.BESIDE,
)

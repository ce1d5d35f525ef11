"""Update and invalidate, counters, freezing and data re-alignment on 64 processors."""

from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.forms import TraceForm
from homenode_studies.studies.markatos import (
    PAPER,
    advised,
    figures,
    freezing,
    layout,
    points,
    realignment,
)
from homenode_studies.studies.markatos.claims import CLAIMS
from homenode_studies.studies.markatos.costs import Costs
from homenode_studies.studies.markatos.notes import NOTES


def experiments(context: StudyContext) -> Products:
    """Runs all policies at all page sizes on every program, with and without re-alignment."""
    plain = points.simulated(context)
    realigned, reports = points.realigned(context)
    costs = Costs(plain, realigned)
    tables = [
        layout.parameters(),
        layout.traces(costs, reports),
        *layout.tables(costs),
        layout.agreement(costs),
        *realignment.tables(reports),
        freezing.readings(context),
        advised.table(costs, advised.found(context), reports),
    ]
    # The notes quote measurements of the full sizes only.
    notes = () if context.quick else NOTES
    extra = {"points": plain, "points-realigned": realigned}
    return Products(tables, figures.figures(costs), extra, notes)


ENTRY = Study(
    name="markatos",
    summary="Update or invalidate, counters, freezing and data re-alignment on 64 processors",
    source="Markatos and Chronaki, all sections, tables and figures",
    experiments=experiments,
    publication=PAPER,
    claims=CLAIMS,
    priced=True,
    form=TraceForm(quantum=1),
)

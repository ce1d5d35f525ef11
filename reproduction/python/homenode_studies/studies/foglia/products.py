"""The results of the paper's configurations: tables, figures, and evidence for claims."""

from collections.abc import Callable

from homenode.trace import Trace
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products
from homenode_studies.studies.foglia import EC, figures, footprints, latency, notes, runs, tables
from homenode_studies.studies.foglia.matrix import BLOCKS


def products(
    context: StudyContext, machine_of: Callable[[Trace], runs.Machine] = runs.machine_for
) -> Products:
    """Simulates every configuration on every mix, and counts the footprints of the mixes.

    Args:
        context: the mixes.
        machine_of: the machine for a mix.
    """
    points = runs.simulated(context, machine_of)
    found = runs.Runs(points)
    touched = footprints.counted(context)
    made = [*tables.of_traces(touched), tables.timing(BLOCKS)]
    if EC in found.workloads():
        made += [tables.scalability(found), tables.stated(found), latency.delays(found)]
    made += [tables.protocols(found), latency.origins(found), latency.idle(found)]
    extra = {"points": points, "footprints": touched}
    said = (*notes.of(points, quick=context.quick), latency.sentence(found))
    return Products(made, figures.figures(found), extra, said)

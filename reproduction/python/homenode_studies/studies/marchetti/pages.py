"""Who uses which page, and which node is its home, as pictures."""

from typing import Any

from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.marchetti.matrix import PAPER_CASE, WITH, batches
from homenode_studies.studies.marchetti.runs import asked, gaps
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Picture

PLACED = PAPER_CASE.changed(home=WITH)
"""The paper's hardware with its placement."""


def pictures(context: StudyContext) -> list[Picture]:
    """One picture per program: pages by data structure, nodes, and the homes by placement."""
    return [_of_program(context, program) for program in context.programs]


def _of_program(context: StudyContext, program: Program) -> Picture:
    trace = context.trace(program)
    cached = ResultCache(context.folder, trace)
    gap = gaps()[program.name]
    question: dict[str, Any] = {"gap": gap, **PLACED.fields(), "pages": True}
    title = f"Who uses which page of {program.name}, with homes by {WITH}"
    drawn: str | None = cached.get(question)
    if drawn is None:
        with context.watch(f"drawing pages of {program.name}") as step:
            (batch,) = batches([PLACED])
            (use,) = asked(trace, batch, gap, uses=True, progress=step).uses
            drawn = use.svg(title)
        cached.put(question, drawn)
        cached.save()
    note = "Fills after initialisation, in hardware, blocks of 64 bytes."
    return Picture(f"pages-{program.name}", title, drawn, note)

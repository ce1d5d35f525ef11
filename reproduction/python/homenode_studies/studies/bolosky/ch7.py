"""Chapter 7: false sharing, from the components of cost and from synthetic traces."""

from collections.abc import Sequence

from homenode_studies.studies.blocks import blocks_of, sharing_of
from homenode_studies.studies.bolosky import THESIS, WORDS_AT_SAME_PACE, ch7_sharing
from homenode_studies.studies.bolosky.ch7_claims import CLAIMS
from homenode_studies.studies.bolosky.ch7_sharing import WORD
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Axis, Figure, Row, Table

_FIGURES = {
    "figure-7.2": "plytrace",
    "figure-7.3": "p-qsort",
    "figure-7.4": "cholesky",
    "figure-7.5": "sorbyr",
}
_PAGE = 4096


def experiments(context: StudyContext) -> Products:
    """Splits cost into overhead and data transfer, and analyses the sharing of pages."""
    components = ch7_sharing.components(context)
    sharing = []
    for program in context.programs:
        blocks = blocks_of(context, program, _PAGE)
        sharing.append({"program": program.name, **sharing_of(blocks)})
    here = {program.name for program in context.programs}
    figures = [
        _figure(name, program, components) for name, program in _FIGURES.items() if program in here
    ]
    most = ch7_sharing.bounds(components)
    tables = [
        *ch7_sharing.tables(most),
        Table(
            "sharing-of-pages",
            "how 4 KB pages are shared",
            sharing,
            "Not a table of the thesis. Misses are those of an infinite write-invalidate cache.",
        ),
        ch7_sharing.synthetic(),
    ]
    return Products(tables, figures, {"components": components, "bounds": most})


def _figure(name: str, program: str, components: Sequence[Row]) -> Figure:
    data = [
        {"series": f"{machine} {part}", "x": row["block_size"], "y": row[part]}
        for machine in ("cc", "numa")
        for part in ("overhead", "data", "mcpr")
        for row in components
        if (row["program"], row["machine"]) == (program, machine) and row["block_size"] != WORD
    ]
    return Figure(
        name,
        f"{program}: MCPR and its overhead and data transfer, on CC and NUMA",
        "lines",
        data,
        Axis("block size", log=True, sizes=True),
        Axis("cost per reference", log=True),
    )


ENTRY = Study(
    name="bolosky-ch7",
    summary="Cost split into overhead and data transfer, bounds on false sharing, sharing of pages",
    source="Bolosky 1993, chapter 7",
    experiments=experiments,
    publication=THESIS,
    claims=CLAIMS,
    priced=True,
    form=WORDS_AT_SAME_PACE,
)

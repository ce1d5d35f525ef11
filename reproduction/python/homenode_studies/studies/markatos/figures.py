"""Figures 1 to 12: normalised latency against page size, with points of the printed tables."""

from collections.abc import Iterator, Sequence

from homenode_studies.studies.markatos.costs import Costs, theirs
from homenode_studies.studies.markatos.points import LINES, POLICIES
from homenode_studies.studies.tables import Axis, Figure, Row

_SHOWN = (
    (1, ("FFT", "SIMPLE", "SPEECH", "WEATHER"), POLICIES[:3], False, "plain policies"),
    (5, ("FFT", "SPEECH", "SIMPLE", "WEATHER"), POLICIES, False, "with hardware counters"),
    (9, ("FFT", "SPEECH", "SIMPLE", "WEATHER"), POLICIES, True, "with data re-alignment"),
)
"""First number, programs in the paper's order, policies, whether re-aligned, and a title."""
_NOTE = "Rings: the sum of the latencies in the paper's tables, divided by 5."


def figures(costs: Costs) -> list[Figure]:
    """Every figure of the programs that were run."""
    return [
        Figure(
            f"figure-{number}",
            f"{program} {title}",
            "lines",
            [*_ours(costs, program, policies, moved), *_theirs(program, policies, moved)],
            Axis("page size, bytes", log=True, sizes=True),
            Axis("normalised latency", log=True),
            note=_NOTE,
        )
        for first, programs, policies, moved, title in _SHOWN
        for number, program in enumerate(programs, first)
        if program in costs.programs()
    ]


def _ours(costs: Costs, program: str, policies: Sequence[str], moved: bool) -> Iterator[Row]:
    for policy in (*LINES, *policies):
        # The lines do not depend on the layout of data.
        realigned = moved and policy not in LINES
        for page in costs.pages(program, policy, realigned):
            height = costs.cost(program, policy, page, realigned)
            yield {"series": policy, "x": 1 << page, "y": height}


def _theirs(program: str, policies: Sequence[str], moved: bool) -> Iterator[Row]:
    for policy in policies:
        for page in theirs().pages(program, policy, moved):
            height = theirs().cost(program, policy, page, moved)
            yield {"series": policy, "x": 1 << page, "y": height, "printed": True}

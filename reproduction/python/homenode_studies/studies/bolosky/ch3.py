"""Chapters 2 and 3: the programs, and the placement of their pages by the ACE's page manager."""

from collections.abc import Sequence

from homenode_studies.studies.bolosky import (
    THESIS,
    WORDS_AT_SAME_PACE,
    ch2_traces,
    ch3_manager,
    ch3_measures,
    chip_moves,
)
from homenode_studies.studies.bolosky.ch3_claims import CLAIMS
from homenode_studies.studies.bolosky.platinum import IN_GLOBAL
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Points, Row, Table

PAGE = 4096
_MILLION = 1e6
_GLOBAL = 2.0


def experiments(context: StudyContext) -> Products:
    """Describes the traces, and runs the ACE's policy and all-global on the ACE."""
    traces = ch2_traces.described(context)
    ace = context.simulate(Matrix(["ace"], ["optimal", "ace", "all-global", IN_GLOBAL], [PAGE]))
    others = context.simulate(
        Matrix(["numa", "cc"], ["optimal"], [16, 32, 64, 128, 256, 512, 1024, PAGE])
    )
    manager = ch3_manager.managed(context)
    smaller = context.simulate(Matrix(["ace"], ["optimal"], ch3_measures.SMALLER, force=True))
    limits = context.simulate(Matrix(["ace"], ["ace:limit=1"], [PAGE]))
    tables = [
        ch2_traces.table(traces),
        ch2_traces.beside(traces, manager),
        Table(
            "table-3.1",
            "user time under all-global, ACE and all-local, in millions of local references",
            user_times(ace),
            "From the cost of references on the ACE: moves are system time and not counted.",
        ),
        Table(
            "moves-of-ace",
            "moves of the ACE policy, as a share of user time",
            overheads(ace),
            "Not a table of the thesis. Moves at G for the difference of system times.",
        ),
        *ch3_manager.tables(manager),
        ch3_manager.recomputed(),
    ]
    moves = chip_moves.counted(context)
    extra = {"outcomes": [*ace, *others, *smaller, *limits], "traces": traces, "chip-moves": moves}
    return Products(tables, (), extra)


def user_times(rows: Sequence[Row]) -> list[Row]:
    """Applies equations 3.4 and 3.5 to the cost of references, for every program."""
    points = Points(rows)
    found = []
    for program in points.programs():
        numa = points.at(program, "ace", "ace", PAGE)
        everywhere = points.at(program, "ace", "all-global", PAGE)
        local = float(numa["accesses"])
        # All-global keeps private data local; the thesis's kernel kept all data in global memory.
        everything = _references(everywhere) + everywhere["local"] * (_GLOBAL - 1)
        times = (everything, _references(numa), local)
        found.append(
            {
                "program": program,
                "t_global": times[0] / _MILLION,
                "t_numa": times[1] / _MILLION,
                "t_local": times[2] / _MILLION,
                **parameters(times, _GLOBAL),
                "local_share": numa["local"] / numa["accesses"],
            }
        )
    return found


def _references(row: Row) -> float:
    return float(row["cost_local"] + (row["cost_remote"] or 0) + row["cost_global"])


def parameters(times: tuple[float, float, float], ratio: float) -> dict[str, float | None]:
    """Alpha, beta and gamma from the times global, numa and local, and G/L.

    Source: Bolosky, thesis, equations 3.1, 3.4 and 3.5.

    >>> {name: round(value, 2) for name, value in parameters((636.9, 415.6, 411.6), 2).items()}
    {'alpha': 0.98, 'beta': 0.55, 'gamma': 1.01}
    """
    t_global, t_numa, t_local = times
    spread = t_global - t_local
    return {
        "alpha": (t_global - t_numa) / spread if spread > 0 else None,
        "beta": spread / t_local / (ratio - 1),
        "gamma": t_numa / t_local,
    }


def overheads(rows: Sequence[Row]) -> list[Row]:
    """The cost of moving pages under the ACE policy, relative to the references' cost."""
    points = Points(rows)
    found = []
    for program in points.programs():
        row = points.at(program, "ace", "ace", PAGE)
        found.append(
            {
                "program": program,
                "moves": row["moves"],
                "delta": row["cost_moves"] / _MILLION,
                "t_numa": _references(row) / _MILLION,
                "share": row["cost_moves"] / _references(row),
            }
        )
    return found


ENTRY = Study(
    name="bolosky-ch3",
    summary="The programs and their traces, and the quality of the ACE's page placement",
    source="Bolosky 1993, chapters 2 and 3",
    experiments=experiments,
    publication=THESIS,
    claims=CLAIMS,
    calibration=True,
    priced=True,
    form=WORDS_AT_SAME_PACE,
)

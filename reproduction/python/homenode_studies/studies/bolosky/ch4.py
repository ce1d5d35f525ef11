"""Chapter 4: the model's propositions on our programs, and the effect of perturbed traces."""

from collections.abc import Sequence

from homenode.engines.simulation import simulate
from homenode.trace import Trace
from homenode_studies.studies.bolosky import THESIS, WORDS_AT_SAME_PACE, ch4_properties, perturb
from homenode_studies.studies.bolosky.ch4_claims import CLAIMS
from homenode_studies.studies.bolosky.ch4_printed import (
    GLOBAL,
    Reference,
    placement_cost,
    printed_cost,
)
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Row, Table

PAGE = 4096
_R, _MOVE = 15, 59
_SCALES = (0.5, 2, 10)
_SWEEPS = {
    "r": [f"prices:r={remote},R=3272" for remote in (2, 5, 10, 15, 30, 60, 150, 400)],
    "R": [f"prices:r=15,R={move}" for move in (200, 500, 1000, 3272, 7000, 15000)],
    "g": [f"prices:r=50,R=4496,g={each},G=2248" for each in (1.1, 2, 3, 5, 10, 25, 50)],
    "G": [f"prices:r=5,R=4496,g=2,G={move}" for move in (450, 600, 1000, 1100, 2248)],
}
# Reads by 3 and 2, writes by 1, reads by 1, writes by 0: the best start is among the copies.
COUNTER_EXAMPLE: list[Reference] = [
    *[(3, "R")] * 1,
    *[(2, "R")] * 6,
    *[(1, "W")] * 4,
    *[(1, "R")] * 5,
    *[(0, "W")] * 6,
]


def experiments(context: StudyContext) -> Products:
    """Tests the propositions on small traces and on every program."""
    tables = [
        Table(
            "propositions",
            f"optimal cost of small traces (r = {_R}, R = {_MOVE})",
            small_traces(),
            "Not a table of the thesis.",
        )
    ]
    prices = priced(context)
    changes = perturb.changes(context)
    seeds = perturb.seeds(context)
    tables.append(perturb.table(changes))
    extra = {
        "scaled": scaled(prices),
        "sweeps": sweeps(prices),
        "slow-global": slow_global(),
        "properties": ch4_properties.tried(),
        "changes": changes,
    }
    return Products(tables, perturb.figures(seeds), extra | {"seeds": seeds})


def small_traces() -> list[Row]:
    """Proposition 1's two traces, and the one that shows the fault of figure 4.3."""
    long = 10 * _MOVE
    first = [(1, "W")] * long + [(2, "W")] + [(1, "W")] * long
    second = [(1, "W")] * long + [(2, "W")] * long
    cases = [
        ("T_1 of proposition 1", first, 2 * long + _R),
        ("T_2 of proposition 1", second, 2 * long + _MOVE),
        ("counter-example to figure 4.3", COUNTER_EXAMPLE, None),
    ]
    rows = []
    for name, references, said in cases:
        ours = optimum(references)
        printed = printed_cost(references, 4, _R, _MOVE)
        row = {"trace": name, "optimum": ours, "figure 4.3": printed, "proof says": said}
        rows.append(row)
    return rows


def optimum(
    references: Sequence[Reference], processors: int = 4, r: float = _R, move: float = _MOVE
) -> float:
    """The optimal cost of references to one block, without global memory."""
    trace = Trace.from_numpy(
        thread=[processor for processor, _ in references],
        kind=[kind for _, kind in references],
        address=[0x1000] * len(references),
        size=4,
    )
    machine = f"prices:r={r:g},R={move:g}"
    found = simulate(trace, machine, "optimal", 64, processors=processors)
    return float(found.rows[0]["total_cost"])


def priced(context: StudyContext) -> list[Row]:
    """The optimum under all prices of theorem 1 and of the sweeps, in one pass per program."""
    machines = _scaled() | _swept()
    return context.simulate(Matrix(machines, ["optimal"], [PAGE], force=True))


def _scaled() -> dict[str, str]:
    """Theorem 1: the prices of the Butterfly and the ACE beyond a local reference, times s."""
    bases = {"butterfly": (15, 3272, None, None), "ace": (5, 4496, 2, 2248)}
    machines = {}
    for name, (r, move, g, global_move) in bases.items():
        for s in (1, *_SCALES):
            spec = f"prices:r={s * (r - 1) + 1:g},R={s * move:g}"
            if g is not None and global_move is not None:
                spec += f",g={s * (g - 1) + 1:g},G={s * global_move:g}"
            machines[f"{name}*{s:g}"] = spec
    return machines


def _swept() -> dict[str, str]:
    """Varies each price in turn, with the others fixed."""
    return {
        f"{price} {_value(spec, price):g}": spec
        for price, specs in _SWEEPS.items()
        for spec in specs
    }


def _value(spec: str, price: str) -> float:
    values = dict(item.split("=") for item in spec.removeprefix("prices:").split(","))
    return float(values[price])


def scaled(rows: Sequence[Row]) -> list[Row]:
    """The rows of `priced` that belong to theorem 1, with the scale."""
    found = []
    for row in rows:
        name, star, scale = row["machine"].partition("*")
        if star:
            found.append(row | {"machine": name, "s": float(scale)})
    return found


def sweeps(rows: Sequence[Row]) -> list[Row]:
    """The rows of `priced` that vary one price, with its name and value."""
    found = []
    for row in rows:
        price, space, value = row["machine"].partition(" ")
        if space:
            found.append(row | {"price": price, "value": float(value)})
    return found


def slow_global() -> list[Row]:
    """A block that one processor writes and seven read, with a global memory slower than remote.

    The optimum without global memory, and a placement that copies through global memory, priced by
    equations 4.1 and 4.2.
    """
    readers = range(1, 8)
    trace: list[Reference] = [(0, "W"), *((p, "R") for p in readers for _ in range(4000))]
    places: list[set[int | str]] = [{0}, *[{0, GLOBAL, *readers}] * (len(trace) - 1)]
    prices = {"r": 5.0, "R": 2000.0, "g": 8.0, "G": 1000.0}
    without = optimum(trace, 8, prices["r"], prices["R"])
    return [{"without": without, "with": placement_cost(trace, places, prices)}]


ENTRY = Study(
    name="bolosky-ch4",
    summary="The model's propositions on our programs, and the effect of disturbing the traces",
    source="Bolosky 1993, chapter 4",
    experiments=experiments,
    publication=THESIS,
    claims=CLAIMS,
    priced=True,
    form=WORDS_AT_SAME_PACE,
)

"""Chapter 6: hardware coherence, software coherence and distributed shared memory compared."""

import json
from collections.abc import Sequence

from homenode import _core
from homenode_studies.studies.bolosky import THESIS, WORDS_AT_SAME_PACE, tlbs
from homenode_studies.studies.bolosky.ch6_claims import CLAIMS
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.entry import Products, Study
from homenode_studies.studies.tables import Axis, Figure, Points, Row, Table

MACHINES = ("cc+", "cc", "numa", "dsm+", "dsm")
SIZES = tuple(32 << i for i in range(9))
BASE = {"cc+": 64, "cc": 64, "numa": 4096, "dsm+": 4096, "dsm": 4096}
SAME_SIZE = 512
_LATENCY, _HARDWARE = 50, 2
SOFTWARE = (19, 38, 75, 150, 300, 600, 750, 1200)
"""Values of o_s; 75 is the thesis's (section 6.1.2), 750 ten times that."""
_OVER = 35.0
"""Bars of figure 6.2 above this MCPR are cut and labelled, as in the thesis."""
_SIZE_FIGURES = {"figure-6.4": "cholesky", "figure-6.5": "p-qsort", "figure-6.6": "sorbyr"}
_SOFTWARE_FIGURES = {"figure-6.7": "sorbyr", "figure-6.8": "e-hyd", "figure-6.9": "p-qsort"}


def experiments(context: StudyContext) -> Products:
    """Runs the comparison: base machines, one block size, all block sizes, o_s."""
    outcomes = context.simulate(Matrix(MACHINES, ["optimal", "migrate"], SIZES))
    sweep = software_sweep(context)
    best = [row for row in outcomes if row["policy"] == "optimal"]
    figures = [
        bars("figure-6.2", "on the base machine models", best, BASE),
        bars(
            "figure-6.3",
            "with 512-byte blocks on all machines",
            best,
            dict.fromkeys(MACHINES, SAME_SIZE),
        ),
    ]
    here = {program.name for program in context.programs}
    figures += [
        against_size(name, program, best)
        for name, program in _SIZE_FIGURES.items()
        if program in here
    ]
    figures += [
        _against_software(name, program, [*sweep, *_unaffected(best)])
        for name, program in _SOFTWARE_FIGURES.items()
        if program in here
    ]
    tlb = tlbs.miss_rates(context)
    if "plytrace" in here:
        figures.append(tlbs.figure("figure-6.10", "plytrace", tlb))
    tables = [formulas(), base_prices(), relative(best), tlbs.corrected(best, tlb)]
    return Products(tables, figures, {"outcomes": outcomes, "software": sweep, "tlb": tlb})


def formulas() -> Table:
    """Table 6.2 from our machine files: constants and slopes of the prices."""
    rows = []
    for name in MACHINES:
        small, large = _prices(name, (64, 4096))
        slope = (large["R"] - small["R"]) / (4096 - 64)
        rows.append(
            {
                "machine": name,
                "r": small["r"],
                "R constant": small["R"] - slope * 64,
                "R per byte": slope,
            }
        )
    return Table(
        "table-6.2", "prices as functions of block size: r, and R = constant + slope x bytes", rows
    )


def base_prices() -> Table:
    """Table 6.3 from our machine files."""
    rows: list[Row] = []
    for name in MACHINES:
        price = _prices(name, (BASE[name],))[0]
        row = {"machine": name, "block_size": BASE[name], "r": price["r"], "R": price["R"]}
        rows.append(row)
    return Table("table-6.3", "prices of the base machine models", rows, "No r: no remote words.")


def _prices(machine: str, sizes: Sequence[int]) -> list[dict[str, float]]:
    found: list[dict[str, float]] = json.loads(_core.machine_prices(machine, list(sizes)))
    return found


def relative(rows: Sequence[Row]) -> Table:
    """Table 6.4: MCPR above that of CC+, each machine at its best block size."""
    points = Points(rows)
    found: list[Row] = []
    for program in points.programs():
        base, at = points.best(program, "cc+")
        row: Row = {"program": program, "cc+ MCPR": base, "cc+ block": at}
        for machine in ("cc", "numa", "dsm+", "dsm"):
            best, size = points.best(program, machine)
            row[machine] = best / base - 1
            row[f"{machine} block"] = size
        found.append(row)
    return Table("table-6.4", "cost above that of CC+, every machine at its best block size", found)


def bars(name: str, title: str, rows: Sequence[Row], sizes: dict[str, int]) -> Figure:
    """A group of bars per program, one bar per machine at its block size."""
    points = Points(rows)
    data = [
        {"series": machine, "x": program, "y": points.mcpr(program, machine, "optimal", size)}
        for program in points.programs()
        for machine, size in sizes.items()
    ]
    return Figure(
        name,
        f"MCPR {title}",
        "bars",
        data,
        Axis("program"),
        Axis("mean cost per reference", limit=_OVER),
    )


def against_size(name: str, program: str, rows: Sequence[Row]) -> Figure:
    """MCPR of one program against block size, one line per machine."""
    points = Points(rows)
    data = [
        {"series": machine, "x": size, "y": points.mcpr(program, machine, "optimal", size)}
        for machine in MACHINES
        for size in points.sizes(program, machine)
    ]
    return Figure(
        name,
        f"{program}: MCPR against block size",
        "lines",
        data,
        Axis("block size", log=True, sizes=True),
        Axis("mean cost per reference", log=True),
    )


def software_sweep(context: StudyContext) -> list[Row]:
    """NUMA, DSM+ and DSM at 512-byte blocks under several values of o_s."""
    machines = {
        f"{machine}@{overhead}": _with_software(machine, overhead)
        for overhead in SOFTWARE
        for machine in ("numa", "dsm+", "dsm")
    }
    rows = context.simulate(Matrix(machines, ["optimal"], [SAME_SIZE], force=True))
    for row in rows:
        name, _, overhead = row["machine"].partition("@")
        row |= {"machine": name, "o_s": int(overhead)}
    return rows


def _with_software(machine: str, overhead: int) -> str:
    """Table 6.2's formulas at 512 bytes with a different o_s, as prices in place of a machine."""
    move = 4 * _LATENCY + SAME_SIZE // 2 + overhead
    remote = {
        "numa": str(2 * _LATENCY + _HARDWARE),
        "dsm+": str(2 * _LATENCY + 2 * overhead),
        "dsm": "inf",
    }[machine]
    return f"prices:r={remote},R={move}"


def _unaffected(best: Sequence[Row]) -> list[Row]:
    """CC+ and CC, which have no software overhead, for comparison."""
    return [
        row | {"o_s": overhead}
        for row in best
        if row["machine"] in {"cc+", "cc"} and row["block_size"] == SAME_SIZE
        for overhead in SOFTWARE
    ]


def _against_software(name: str, program: str, rows: Sequence[Row]) -> Figure:
    data = [
        {"series": row["machine"], "x": row["o_s"], "y": row["mcpr"]}
        for row in sorted(rows, key=lambda row: (MACHINES.index(row["machine"]), row["o_s"]))
        if row["program"] == program
    ]
    return Figure(
        name,
        f"{program}: MCPR against o_s, 512-byte blocks",
        "lines",
        data,
        Axis("software overhead o_s, in local references", log=True),
        Axis("mean cost per reference", log=True),
    )


ENTRY = Study(
    name="bolosky-ch6",
    summary="Five machines from hardware coherence to distributed shared memory, all block sizes",
    source="Bolosky 1993, chapter 6 and its conclusions in chapter 8",
    experiments=experiments,
    publication=THESIS,
    claims=CLAIMS,
    priced=True,
    form=WORDS_AT_SAME_PACE,
)

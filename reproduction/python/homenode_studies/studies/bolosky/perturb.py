"""The perturbations of section 4.3: local and gap filters, on four machines, with several seeds."""

from collections.abc import Sequence

from homenode.trace import Trace
from homenode.trace.transforms import transform
from homenode_studies.studies.bolosky.platinum import PLATINUM
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Axis, Figure, Row, Table

PAGE, LINE = 4096, 64
KINDS = ("local", "gap")
MACHINES = ("ace", "butterfly", "numa", "cc")
_ON_LINE = {"ace": "ace", "butterfly": "platinum"}
_SEEDS = (1, 2, 3, 4)
_FINE = ("cholesky", "p-gauss", "p-qsort", "p-life")
"""The programs of figure 4.4."""


def changes(context: StudyContext) -> list[Row]:
    """The signed relative change of the MCPR for every program, filter, machine and policy."""
    rows: list[Row] = []
    for program in context.programs:
        plain = _costs(context, program, context.trace(program))
        for kind in KINDS:
            with context.watch(f"disturbing {program.name}") as step:
                disturbed = transform(kind, context.trace(program), seed=1, progress=step)
            found = _costs(context, program, disturbed)
            rows += [
                {
                    "program": program.name,
                    "style": program.style,
                    "filter": kind,
                    "machine": machine,
                    "policy": policy,
                    "mcpr": plain[machine, policy],
                    "change": found[machine, policy] / plain[machine, policy] - 1,
                }
                for machine, policy in plain
            ]
    return rows


def _costs(context: StudyContext, program: Program, trace: Trace) -> dict[tuple[str, str], float]:
    matrix = Matrix(MACHINES, ["optimal", "ace", PLATINUM], [LINE, PAGE], force=True)
    rows = [
        row
        for row in context.replay(matrix, program, trace)
        if (row["machine"] == "cc") == (row["block_size"] == LINE)
    ]
    return {
        (row["machine"], row["policy"]): row["mcpr"]
        for row in rows
        if row["policy"] == "optimal" or _ON_LINE.get(row["machine"]) == row["policy"]
    }


def table(rows: Sequence[Row]) -> Table:
    """Table 4.1: absolute changes of the optimum in per cent."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["policy"] == "optimal":
            entry = found.setdefault(row["program"], {"program": row["program"]})
            entry[f"{row['filter']}_{row['machine']}"] = 100 * abs(row["change"])
    return Table(
        "table-4.1",
        "change of the optimum's cost by the local and the gap filter, in per cent",
        list(found.values()),
    )


def seeds(context: StudyContext) -> list[Row]:
    """Figure 4.4: MCPR on CC, unchanged and under the local filter with several seeds."""
    rows: list[Row] = []
    matrix = Matrix(("cc",), ["optimal"], [LINE])
    for program in context.programs:
        if program.name not in _FINE:
            continue
        trace = context.trace(program)
        plain = context.replay(matrix, program, trace)[0]["mcpr"]
        rows.append(_mark(program, "unmodified", plain))
        for seed in _SEEDS:
            with context.watch(f"disturbing {program.name}") as step:
                disturbed = transform("local", trace, seed=seed, progress=step)
            found = context.replay(matrix, program, disturbed)[0]["mcpr"]
            rows.append(_mark(program, "locally perturbed", found) | {"seed": seed})
    return rows


def _mark(program: Program, series: str, mcpr: float) -> Row:
    return {
        "group": program.name,
        "series": series,
        "x": mcpr,
        "tick": series == "unmodified",
        "seed": None,
    }


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Figure 4.4, if one of its programs was run."""
    if not rows:
        return []
    return [
        Figure(
            "figure-4.4",
            "optimal MCPR on CC, unmodified and locally perturbed with several seeds",
            "marks",
            rows,
            Axis("mean cost per reference"),
            Axis("program"),
        )
    ]

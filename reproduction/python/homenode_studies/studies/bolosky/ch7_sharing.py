"""False sharing of chapter 7: components of cost, bounds, and traces with closed forms."""

from collections.abc import Sequence

from homenode.engines.sharing import sharing
from homenode.engines.sharing import synthetic as made
from homenode_studies.studies.cache import kept
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Row, Table

WORD = 4
SIZES = (WORD, *(32 << i for i in range(9)))
MACHINES = ("cc", "numa")
_PAGE = 4096
_PROCESSORS, _WORDS, _REFERENCES = 8, 64, 102_400
_PARTS = ("fragmentation", "false_sharing", "grouping")


def components(context: StudyContext) -> list[Row]:
    """The cost of the optimum and the possible part of false sharing in it, in local references.

    One row per program, machine and block size. Costs are per reference. On CC, where blocks can
    only be moved, ``false_low`` to ``false_high`` brackets false sharing; ``bound`` is equation
    7.14, ``halving`` the bound of section 7.2, and ``intervals`` the savings of the best intervals.
    """
    return [row for program in context.programs for row in _of(context, program)]


def _of(context: StudyContext, program: Program) -> list[Row]:
    with context.watch(f"sharing of {program.name}") as step:
        found = kept(
            context.folder,
            sharing,
            context.trace(program),
            MACHINES,
            SIZES,
            progress=step,
            force=True,
            detail=0,
            sync="exclude",
            private=program.private,
        )
    context.note(Matrix(MACHINES, ["optimal"], SIZES), found.provenance)
    rows: list[Row] = []
    for point in found:
        parts, accesses, size = point["components"], point["accesses"], point["block_size"]
        row: Row = {
            "program": program.name,
            "style": program.style,
            "machine": point["machine"],
            "block_size": size,
            "accesses": accesses,
            "mcpr": point["mcpr"],
            "overhead": (parts["overhead_moves"] + parts["overhead_references"]) / accesses,
            "data": parts["data_transfer"] / accesses,
        }
        rows.append(row | (_bounds(point) if point["machine"] == "cc" else {}))
    return rows


def _bounds(point: Row) -> Row:
    estimate, accesses = point["estimate"], point["accesses"]
    return {
        "false_low": estimate["false_sharing"]["low"] / accesses,
        "false_high": estimate["false_sharing"]["high"] / accesses,
        "bound": estimate["bound_7_14"] / accesses,
        "halving": estimate["halving_bound"] / accesses,
        "intervals": estimate["intervals"] / accesses,
    }


def bounds(rows: Sequence[Row]) -> list[Row]:
    """The rows that have bounds, and each bound's share of the cost."""
    return [
        row | {"share": row["bound"] / row["mcpr"]}
        for row in rows
        if row["machine"] == "cc" and row["block_size"] != WORD
    ]


def tables(rows: Sequence[Row]) -> list[Table]:
    """The bounds as shares of the cost on CC: each by block size, and all at 4 KB."""
    notes = "Not a table of the thesis. Columns are block sizes in bytes."
    kinds = (
        ("false-sharing-bounds", "bound", "upper bound on false sharing by equation 7.14"),
        ("false-sharing-least", "false_low", "lower end of the bracket of false sharing"),
        ("false-sharing-most", "false_high", "upper end of the bracket of false sharing"),
        ("halving-bound", "halving", "false sharing shown by halving blocks (section 7.2)"),
    )
    found = [
        Table(name, f"{title}, as a share of the cost on CC", _by_size(rows, column), notes)
        for name, column, title in kinds
    ]
    columns = {
        "halving bound": "halving",
        "best intervals": "intervals",
        "least": "false_low",
        "most": "false_high",
        "equation 7.14": "bound",
    }
    at_page = [
        {"program": row["program"]}
        | {title: row[column] / row["mcpr"] for title, column in columns.items()}
        for row in rows
        if row["block_size"] == _PAGE
    ]
    title = "all bounds on false sharing with 4 KB blocks, as shares of the cost on CC"
    found.append(Table("false-sharing-at-4096", title, at_page, "Not a table of the thesis."))
    return found


def _by_size(rows: Sequence[Row], column: str) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        entry = found.setdefault(row["program"], {"program": row["program"]})
        entry[str(row["block_size"])] = row[column] / row["mcpr"]
    return list(found.values())


def synthetic() -> Table:
    """T_F, T_S and T_Gamma on CC, with blocks of 64 words, and their closed forms.

    Source: Bolosky, thesis, section 7.1.6, the example traces; with one less than n, because the
    first location is free.
    """
    rows: list[Row] = []
    for title, name in (("T_F", "t-f"), ("T_S", "t-s"), ("T_Gamma", "t-gamma")):
        trace = made(name, processors=_PROCESSORS, words=_WORDS, references=_REFERENCES)
        found = sharing(trace, "cc", _WORDS * WORD, detail=0).rows[0]["estimate"]
        row: Row = {"trace": title}
        closed = closed_form(title, found["move_overhead"], found["move_transfer"])
        for part in _PARTS:
            row |= {f"{part} {end}": found[part][end] for end in ("low", "high")}
            row[f"{part} closed form"] = closed[part]
        rows.append(row)
    title = "the three traces of section 7.1.6: computed values and closed forms"
    note = "The closed forms have n - 1 instead of the thesis's n: the first location is free."
    return Table("synthetic-traces", title, rows, note)


def closed_form(trace: str, overhead: int, transfer: int) -> dict[str, int]:
    """The closed forms for a block of s words: o is `overhead`, bs is `transfer`.

    >>> closed_form("T_F", 152, 128)["fragmentation"]
    12902274
    """
    n, s = _REFERENCES, _WORDS
    b = transfer // s
    return (
        dict.fromkeys(_PARTS, 0)
        | {
            "T_F": {"fragmentation": (n - 1) * b * (s - 1)},
            "T_S": {"false_sharing": (n - 1) * (overhead + transfer)},
            "T_Gamma": {"grouping": (n // s - 1) * (1 - s) * overhead},
        }[trace]
    )

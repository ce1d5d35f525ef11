"""Chapter 7: false sharing, from the components of cost and from synthetic traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from homenode.simulation import simulate
from homenode.studies import uses
from homenode.studies.bolosky.ch7_claims import CLAIMS
from homenode.studies.entry import Products, Study
from homenode.studies.lab import Matrix
from homenode.studies.tables import Axis, Figure, Table
from homenode.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.studies.lab import Laboratory
    from homenode.studies.tables import Row

WORD = 4
SIZES = (WORD, *(32 << i for i in range(9)))
_REMOTE = 102
_FIGURES = {
    "figure-7.2": "plytrace",
    "figure-7.3": "p-qsort",
    "figure-7.4": "cholesky",
    "figure-7.5": "sorbyr",
}
_PAGE = 4096
OVERHEAD = {"cc": 152.0, "numa": 275.0}
"""R without its block_size/2, from table 6.2."""
_PROCESSORS, _WORDS, _ROUNDS = 8, 64, 200


def experiments(lab: Laboratory) -> Products:
    """Splits cost into overhead and data transfer, and looks at the sharing of pages."""
    outcomes = lab.simulate(Matrix(["cc", "numa"], ["optimal"], SIZES, force=True))
    components = [component(row) for row in outcomes]
    sharing = []
    for program in lab.programs:
        blocks = uses.blocks_of(lab, program, _PAGE)
        sharing.append({"program": program.name, **uses.sharing_of(blocks)})
    here = {program.name for program in lab.programs}
    figures = [
        _figure(name, program, components) for name, program in _FIGURES.items() if program in here
    ]
    most = bounds(components)
    tables = [
        Table(
            "false-sharing-bounds",
            "upper bound on false sharing on CC by equation 7.14, as a share of the cost",
            by_size(most),
            "Not a table of the thesis. Columns are block sizes in bytes.",
        ),
        Table(
            "sharing-of-pages",
            "how 4 KB pages are shared",
            sharing,
            "Not a table of the thesis. Misses are those of a write-invalidate cache without end.",
        ),
        Table("synthetic-traces", "the three traces of section 7.1.6, per reference", synthetic()),
    ]
    return Products(tables, figures, {"components": components, "bounds": most})


def component(row: Row) -> Row:
    """Overhead and data transfer of one point, per reference (section 7.1.6).

    Data transfer is two bytes a unit for every block moved; all else that is not local is overhead,
    the remote references of NUMA included.
    """
    moves, size, accesses = row["moves"], row["block_size"], row["accesses"]
    data = moves * size / 2
    overhead = moves * OVERHEAD[row["machine"]] + row["remote"] * _REMOTE
    return {
        "program": row["program"],
        "style": row["style"],
        "machine": row["machine"],
        "block_size": size,
        "moves": moves,
        "accesses": accesses,
        "mcpr": row["mcpr"],
        "overhead": overhead / accesses,
        "data": data / accesses,
    }


def bounds(components: Sequence[Row]) -> list[Row]:
    """Equation 7.14 on CC for every program and block size, per reference.

    S <= (o + bs) Phi_s - (o/s + b) Phi_1, with s in words and b = 2 a word.
    """
    on_cc = [row for row in components if row["machine"] == "cc"]
    word = {row["program"]: row["moves"] for row in on_cc if row["block_size"] == WORD}
    found = []
    for row in on_cc:
        words = row["block_size"] // WORD
        o, b = OVERHEAD["cc"], 2.0
        most = (o + b * words) * row["moves"] - (o / words + b) * word[row["program"]]
        found.append(
            {
                "program": row["program"],
                "block_size": row["block_size"],
                "bound": most / row["accesses"],
                "mcpr": row["mcpr"],
                "share": most / row["accesses"] / row["mcpr"],
            }
        )
    return [row for row in found if row["block_size"] != WORD]


def by_size(rows: Sequence[Row]) -> list[Row]:
    """The shares of `bounds`, one row a program and one column a block size."""
    found: dict[str, Row] = {}
    for row in rows:
        entry = found.setdefault(row["program"], {"program": row["program"]})
        entry[str(row["block_size"])] = row["share"]
    return list(found.values())


def synthetic() -> list[Row]:
    """T_F, T_S and T_Gamma on CC: moves with blocks of 64 words and of one word.

    Source: Bolosky, thesis, section 7.1.6, the example traces.
    """
    n = _PROCESSORS * _WORDS * _ROUNDS
    index = np.arange(n)
    traces = {
        "T_F": (index % _PROCESSORS, np.zeros_like(index)),
        "T_S": (index % _PROCESSORS, index % _WORDS),
        "T_Gamma": (index // _WORDS % _PROCESSORS, index % _WORDS),
    }
    return [_components_of(name, *columns) for name, columns in traces.items()]


def _components_of(name: str, threads: np.ndarray, words: np.ndarray) -> Row:
    base = 0x10000
    trace = Trace.from_numpy(thread=threads, kind="W", address=base + WORD * words, size=WORD)
    result = simulate(trace, ["cc"], ["optimal"], [WORD, WORD * _WORDS], force=True)
    one, block = (row["counts"]["remote_moves"] for row in result)
    n, o, b, s = len(threads), OVERHEAD["cc"], 2.0, _WORDS
    fragmentation = {"T_F": n * b * (s - 1)}.get(name, 0.0)
    sharing = (o + b * s) * block - (o / s + b) * one - (1 + o / (b * s)) * fragmentation
    difference = result.rows[1]["total_cost"] - result.rows[0]["total_cost"]
    return {
        "trace": name,
        "moves with blocks": block / n,
        "moves with words": one / n,
        "F": fragmentation / n,
        "S": sharing / n,
        "Gamma": (difference - fragmentation - sharing) / n,
        "o": o,
        "b": b,
        "s": s,
    }


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
    publication="bolosky",
    claims=CLAIMS,
)

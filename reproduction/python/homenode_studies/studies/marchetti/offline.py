"""The optimum in hindsight: that of the placement engine for the same traces, from their mark.

The engine has no caches. So its optimum is computed twice: for all references, on its machine
``numa``; and for the misses of a cache like the mesh's, with prices like the mesh's, for comparison
with the shares of local fills. It ignores the cost of copies in other caches.
"""

from typing import Any

import homenode
from homenode.options.specs import unique
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.context import Matrix, StudyContext
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Row

PAGE = 4096
OPTIMAL, UNCOPIED, BEST = "optimal", "optimal-no-replication", "best-static"
POLICIES = ("round-robin", "first-touch", BEST, UNCOPIED, OPTIMAL)
NUMA = "numa"
LIKE_MESH = "prices:r=2.5,R=50"
"""A fill over the mesh takes about two and a half times as long as one from the node's own memory,
which takes 86 cycles (10 + 12 + 16 x 4), and the move of a page 50 times as long (4,300): table
1."""
CACHE = "16K:1:64"
"""The mesh's cache."""
ALL, FILLS = "references", "fills"
_ASKED: dict[str, tuple[str, str | None]] = {ALL: (NUMA, None), FILLS: (LIKE_MESH, CACHE)}


def found(context: StudyContext) -> list[Row]:
    """The local shares of references and of fills, for each program and policy."""
    return [row for program in context.programs for row in _of_program(context, program)]


def _of_program(context: StudyContext, program: Program) -> list[Row]:
    trace = context.trace(program)
    cached = ResultCache(context.folder, trace)
    question: dict[str, Any] = {"offline": [list(POLICIES), PAGE, _ASKED]}
    rows: list[Row] | None = cached.get(question)
    if rows is None:
        rows = _simulated(context, program)
        cached.put(question, rows)
        cached.save()
    for machine, _cache in _ASKED.values():
        context.note(Matrix([machine], POLICIES, [PAGE]), {"notes": []})
    return [{"program": program.name, **row} for row in rows]


def _simulated(context: StudyContext, program: Program) -> list[Row]:
    """The rows for the part of the trace after initialisation."""
    with context.watch(f"removing the start of {program.name}") as step:
        trace = homenode.transform(
            "select", context.trace(program), progress=step, from_="init-done"
        )
    rows: list[Row] = []
    for of, (machine, cache) in _ASKED.items():
        options: dict[str, Any] = {} if cache is None else {"filter": cache}
        with context.watch(f"finding the optimum of {program.name}") as step:
            result = homenode.simulate(
                trace, [machine], list(POLICIES), [PAGE], progress=step, **options
            )
        context.notes = unique([*context.notes, *result.provenance.get("notes", [])])
        rows += [_row(of, outcome) for outcome in result]
    return rows


def _row(of: str, outcome: dict[str, Any]) -> Row:
    counts = outcome["counts"]
    local = counts["local_reads"] + counts["local_writes"]
    return {
        "of": of,
        "policy": outcome["policy"],
        "local": local / outcome["accesses"] if outcome["accesses"] else None,
        "moves": counts["remote_moves"],
        "cost": outcome["total_cost"],
    }

"""Counts for tables 1 to 3: the footprint and sharing of each application of a workload."""

import json
from typing import Any

from homenode import _core
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.foglia import DB, EC, WEB
from homenode_studies.studies.programs import Program
from homenode_studies.studies.tables import Row

BLOCK_SIZE = 32
ALL = "all"
_STANDS_FOR = 4
_NAMES = {
    "apache2": "Apache",
    "httpd": "Apache",
    "postgres": "PostgreSQL",
    "postmaster": "PostgreSQL",
    "awk": "AWK",
    "gawk": "AWK",
    "mawk": "AWK",
    "cp": "CP",
    "gzip": "GZIP",
    "rm": "RM",
    "ls": "LS-AR",
}
UTILITIES = ("AWK", "CP", "GZIP", "RM", "LS-AR")
OF_TABLE_2 = ((EC, "Apache"), (DB, "PostgreSQL"), (EC, "PostgreSQL"))
OF_TABLE_3 = (EC, DB, WEB)


def application(names: list[str]) -> str:
    """The application of a process, by its last known name.

    >>> application(["init", "sh", "mawk"]), application(["kworker/0:1"])
    ('AWK', 'kworker/0:1')
    """
    known = [_NAMES[name] for name in names if name in _NAMES]
    return known[-1] if known else names[-1] if names else "unknown"


def groups(processes: list[dict[str, Any]]) -> dict[str, list[int]]:
    """The numbers of the processes of each application, and of all."""
    found: dict[str, list[int]] = {}
    for process in processes:
        found.setdefault(application(process["names"]), []).append(process["pid"])
    return found | {ALL: [process["pid"] for process in processes]}


def counted(context: StudyContext) -> list[Row]:
    """One row per application of a workload, with the kernel's references and without."""
    return [row for program in context.programs for row in _of_workload(context, program)]


def _of_workload(context: StudyContext, program: Program) -> list[Row]:
    trace = context.trace(program)
    processes = trace.info["metadata"].get("processes") or [
        {"pid": number, "names": ["thread"]} for number in range(trace.info["threads"])
    ]
    found = groups(processes)
    cached = ResultCache(context.folder, trace)
    rows = []
    for kernel in (True, False):
        question = {"block_size": BLOCK_SIZE, "groups": list(found.values()), "kernel": kernel}
        if cached.get(question) is None:
            with context.watch(f"counting blocks of {program.name}") as step:
                answer = _core.footprint(str(trace.path), json.dumps(question), step)
            cached.put(question, json.loads(answer))
            cached.save()
        for name, counts in zip(found, cached.get(question), strict=True):
            rows.append({"workload": program.name, "application": name, "with_kernel": kernel})
            rows[-1] |= counts
    return rows


def shares(row: Row) -> Row:
    """The columns of tables 1 to 3 of a group of processes, in percent of its references.

    Without recorded fetches a data reference counts as four references, and the columns of code and
    data are empty.

    ``written_shared`` are shared blocks that are written, the ones that need coherence.
    """
    fetches = row["fetches"] > 0
    of = 100 / max(1, row["references"] if fetches else _STANDS_FOR * row["references"])
    return {
        "processes": row["processes"],
        "distinct_blocks": row["distinct_blocks"],
        "code": of * row["fetches"] if fetches else None,
        "data_access": of * (row["references"] - row["fetches"]) if fetches else None,
        "data_write": of * row["writes"],
        "shared_blocks": row["shared_blocks"],
        "shared_access": of * row["shared_references"],
        "shared_write": of * row["shared_writes"],
        "written_shared_blocks": row["written_shared_blocks"],
        "written_shared_access": of * row["written_shared_references"],
        "kernel": 100 * row["kernel"] / max(1, row["references"]),
    }


def row_of(
    rows: list[Row], workload: str, application: str = ALL, *, kernel: bool = True
) -> Row | None:
    """The counts of an application, if the run has it."""
    wanted = (workload, application, kernel)
    for row in rows:
        if (row["workload"], row["application"], row["with_kernel"]) == wanted:
            return row
    return None

"""Claims of section 4: the workloads and the machine."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from homenode_studies.studies.claims import Claim, about, empty, less_than, more_than, points
from homenode_studies.studies.foglia import DB, EC, PAPER, WEB, footprints, tables
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Evidence, Missing

_NO_FETCHES = "the recordings have no instruction fetches"
_OURS = (
    "checked: cp and rm spend nine tenths of their references in the kernel here, and Apache half; "
    "66 % of the kernel's references are fetches. Without it (users) the processes differ as in "
    "the paper"
)
_WORDS = (
    "checked: an instruction is one fetch here, of 3.5 bytes in 1.6 words of four bytes on "
    "average; counted in such words, 77 to 78 % of the references are fetches and 9 to 10 % writes"
)
_KERNELS = "checked: our kernel shares much data, most of all for a network server"


def column(evidence: Evidence, table: str, key: str, name: str) -> dict[str, float]:
    """A column of one of our tables by the row's name.

    Raises:
        Missing: when it is empty.
    """
    found = {row[key]: row[name] for row in evidence.rows(table)}
    if None in found.values():
        raise Missing(_NO_FETCHES)
    return {key: float(value) for key, value in found.items()}


def of_workloads(evidence: Evidence, name: str, table: str = "table-3") -> dict[str, float]:
    """A column of table 3.

    Raises:
        Missing: when a workload was not run.
    """
    found = column(evidence, table, "workload", name)
    absent = [workload for workload in (EC, DB, WEB) if workload not in found]
    if absent:
        raise Missing(f"needs {', '.join(absent)}, which this run does not have")
    return found


def of_server(evidence: Evidence, workload: str, application: str, name: str) -> float:
    """A column of table 2, by workload and application.

    Raises:
        Missing: when there are no such processes.
    """
    rows = list(evidence.rows("footprints"))
    row = footprints.row_of(rows, workload, application)
    if row is None:
        raise Missing(f"needs {application} in {workload}")
    value = footprints.shares(row)[name]
    if value is None:
        raise Missing(_NO_FETCHES)
    return float(value)


def descending(*names: str) -> Callable[[Mapping[str, float]], bool]:
    """Whether the values are in this order, the largest first."""
    return lambda found: all(found[before] > found[after] for before, after in pairwise(names))


def near(table: str, key: str, name: str) -> Callable[[Mapping[str, float]], bool]:
    """Whether every value is within five points of the printed one."""
    theirs = {row[key]: row[name] for row in published(PAPER.name)[table]}
    return lambda found: all(points(theirs[k] / 100)(value / 100) for k, value in found.items())


def utilities(evidence: Evidence, name: str) -> dict[str, float]:
    """A column of table 1.

    Raises:
        Missing: when a utility was not run.
    """
    found = column(evidence, "table-1", "application", name)
    absent = [u for u in footprints.UTILITIES if u not in found]
    if absent:
        raise Missing(f"needs {', '.join(absent)}, which this mix does not have")
    return found


_SHARED_PARTS = "share of writes in the data references to shared blocks"

CLAIMS = (
    Claim(
        "4",
        "Every workload has 26 processes",
        "26",
        "processes of each mix",
        lambda e: of_workloads(e, "processes"),
        lambda found: set(found.values()) == {26.0},
        why="a recording that was cut short may lack a process",
        kind="identity",
    ),
    Claim(
        "4",
        "A workload is 130 million references",
        "130",
        "millions of references of each mix, or four times its data references",
        lambda e: {
            row["workload"]: row["references"] * (1 if row["fetches"] else 4) / 1e6
            for row in e.rows("footprints")
            if row["application"] == footprints.ALL and row["with_kernel"]
        },
        lambda found: all(about(130)(value) for value in found.values()),
        why="these mixes are shorter",
        kind="identity",
    ),
    Claim(
        "4",
        "Transactions take the cycles of table 4 with 32 to 256 bytes",
        "table 4",
        "differing entries of its 32",
        lambda e: tables.differences(e.rows("table-4")),
        empty,
        kind="identity",
    ),
    Claim(
        "4",
        "Three quarters of the references of a workload fetch instructions",
        "EC-server 75.49, DB 74.59, Web-server 73.94",
        "percent of all references",
        lambda e: of_workloads(e, "code"),
        near("table-3", "workload", "code"),
        why=_WORDS,
    ),
    Claim(
        "4",
        "The utilities have a larger share of fetches than the servers",
        "76 to 86 % against 72 to 74 %",
        "the utilities' smallest share over the servers' largest",
        lambda e: (
            min(utilities(e, "code").values())
            / max(of_server(e, w, a, "code") for w, a in footprints.OF_TABLE_2)
        ),
        more_than(1),
        why=_OURS,
    ),
    Claim(
        "4",
        "7 to 9 % of a workload's references are writes",
        "EC-server 7.39, DB 9.15, Web-server 6.92",
        "percent of all references",
        lambda e: of_workloads(e, "data_write"),
        lambda found: all(
            about(row["data_write"])(found[row["workload"]])
            for row in published(PAPER.name)["table-3"]
        ),
        why=_WORDS,
    ),
    Claim(
        "4",
        "PostgreSQL writes more than Apache",
        "10.12 and 9.89 against 6.99",
        "share of writes of PostgreSQL (EC-server) over that of Apache",
        lambda e: (
            of_server(e, EC, "PostgreSQL", "data_write") / of_server(e, EC, "Apache", "data_write")
        ),
        more_than(1),
        why=_OURS,
    ),
    Claim(
        "4",
        "Among the utilities AWK touches the most blocks and RM the fewest",
        "AWK 9876, RM 2655",
        "distinct 32-byte blocks",
        lambda e: utilities(e, "distinct_blocks"),
        lambda found: max(found, key=found.get) == "AWK" and min(found, key=found.get) == "RM",
        why="checked: most of the work of cp and rm is done by the kernel here. Without it (users) "
        "they touch the fewest, 811 and 787, and gzip, with a later compressor, the most, 4,096",
    ),
    Claim(
        "4",
        "DB touches the most blocks and Web-server the fewest",
        "DB 330279, EC-server 112183, Web-server 72550",
        "distinct 32-byte blocks",
        lambda e: of_workloads(e, "distinct_blocks"),
        descending(DB, EC, WEB),
    ),
    Claim(
        "4",
        "21 processes of PostgreSQL touch far more blocks than eight",
        "10.7 times as many",
        "distinct blocks of PostgreSQL (DB) over PostgreSQL (EC-server)",
        lambda e: (
            of_server(e, DB, "PostgreSQL", "distinct_blocks")
            / of_server(e, EC, "PostgreSQL", "distinct_blocks")
        ),
        more_than(21 / 8),
        why="checked: it depends on the queries. By the shares in tables 1 to 3 each of the "
        "paper's processes made about 4.7 million references in either mix, and touched four times "
        "as many blocks in one of them; with the same queries it cannot be more than 21/8. With "
        "4.8 million references each, 8 that look up rows touch 122,196 blocks and 21 that search "
        "389,220: 3.2 times as many, 3.9 without the kernel (workloads ecommerce db "
        "--transactions)",
    ),
    Claim(
        "4",
        "DB shares the most blocks and Web-server the fewest",
        "DB 10516, EC-server 6101, Web-server 1108",
        "shared blocks of data that are written",
        lambda e: of_workloads(e, "written_shared_blocks"),
        descending(DB, EC, WEB),
        why=_KERNELS,
    ),
    Claim(
        "4",
        "DB has the largest share of references to shared data and Web-server the smallest",
        "DB 1.77, EC-server 1.68, Web-server 1.54",
        "percent of all references, to shared blocks of data that are written",
        lambda e: of_workloads(e, "written_shared_access"),
        descending(DB, EC, WEB),
        why=_KERNELS,
    ),
    Claim(
        "4",
        "References to shared data are under 3 % of all",
        "1.54 to 1.77",
        "percent of all references, to shared blocks of data that are written",
        lambda e: of_workloads(e, "written_shared_access"),
        less_than(3),
        why=_KERNELS,
    ),
    Claim(
        "4",
        "About a third of the references to shared data are writes",
        "0.32, 0.30, 0.32",
        _SHARED_PARTS,
        lambda e: {
            name: write / access
            for (name, write), access in zip(
                of_workloads(e, "shared_write").items(),
                of_workloads(e, "written_shared_access").values(),
                strict=True,
            )
        },
        lambda found: all(about(0.315)(value) for value in found.values()),
        why="checked: of the references to all blocks that several processes touch, including "
        "those that are never written, 43, 18 and 33 % are writes, of Apache's alone 32 %, as in "
        "table 2 (33 %), and of PostgreSQL's 5 %. Nearly all written blocks are the kernel's",
    ),
)
"""Claims of section 4, with tables 1 to 4."""

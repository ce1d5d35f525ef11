"""Claims of section 4: the workloads and the machine."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from homenode_studies.studies.claims import Claim, about, empty, more_than, points
from homenode_studies.studies.foglia import DB, EC, PAPER, WEB, footprints, tables
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.reasons import counted
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.reasons import Number, Reason
from homenode_studies.studies.tables import Evidence, Missing, Row

_NO_FETCHES = "the recordings have no instruction fetches"
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


def own_code(evidence: Evidence) -> float:
    """The utilities' smallest share of fetches over the servers' largest, without the kernel."""
    utilities = [_own_share(evidence, EC, name, "code") for name in footprints.UTILITIES]
    return min(utilities) / max(
        _own_share(evidence, w, a, "code") for w, a in footprints.OF_TABLE_2
    )


def writes_of_servers(
    evidence: Evidence, share_of: Callable[[Evidence, str, str, str], float]
) -> float:
    """The smaller share of writes of PostgreSQL, in EC-server and DB, over that of Apache."""
    databases = [share_of(evidence, workload, "PostgreSQL", "data_write") for workload in (EC, DB)]
    return min(databases) / share_of(evidence, EC, "Apache", "data_write")


def _own_share(evidence: Evidence, workload: str, application: str, name: str) -> float:
    return _share(counted(evidence, workload, application, kernel=False), name)


def _share(row: Row, name: str) -> float:
    value = footprints.shares(row)[name]
    if value is None:
        raise Missing(_NO_FETCHES)
    return float(value)


def of_kernel(application: str) -> Number:
    """The percentage of an application's references in EC-server that are the kernel's."""
    return lambda e: _share(counted(e, EC, application), "kernel")


def kernels_code(evidence: Evidence) -> float:
    """The percentage of the kernel's references in EC-server that are fetches."""
    both, own = counted(evidence, EC), counted(evidence, EC, kernel=False)
    if not both["fetches"]:
        raise Missing(_NO_FETCHES)
    kernel = float(both["references"] - own["references"])
    return 100 * m.over(both["fetches"] - own["fetches"], kernel, "references of the kernel")


def fetches_needed(evidence: Evidence) -> float:
    """The fetches for each instruction with which EC-server has the paper's share of them."""
    ours, theirs = of_workloads(evidence, "code")[EC], _PAPERS_CODE
    return theirs / (100 - theirs) * (100 - ours) / ours


def writes_then(evidence: Evidence) -> float:
    """The percentage of writes in EC-server with the paper's share of fetches."""
    code = of_workloads(evidence, "code")[EC]
    whole = 100 - code + fetches_needed(evidence) * code
    return 100 * of_workloads(evidence, "data_write")[EC] / whole


def own_blocks(evidence: Evidence) -> dict[str, float]:
    """The blocks that each utility touches without the kernel."""
    return {
        name: float(counted(evidence, EC, name, kernel=False)["distinct_blocks"])
        for name in footprints.UTILITIES
    }


def blocks_each(workload: str) -> Number:
    """The blocks for each process of PostgreSQL."""

    def compute(evidence: Evidence) -> float:
        row = counted(evidence, workload, "PostgreSQL")
        return float(row["distinct_blocks"]) / float(row["processes"])

    return compute


def of_written(workload: str, application: str = footprints.ALL) -> Number:
    """The percentage of writes in the references to all shared blocks of data."""

    def compute(evidence: Evidence) -> float:
        row = counted(evidence, workload, application)
        return 100 * m.over(row["shared_writes"], row["shared_references"], "shared references")

    return compute


def kernels_blocks(evidence: Evidence) -> dict[str, float]:
    """The percentage of the written shared blocks that are shared only through the kernel."""
    both = of_workloads(evidence, "written_shared_blocks")
    own = of_workloads(evidence, "written_shared_blocks", "table-3-user")
    return {name: 100 * m.over(both[name] - own[name], both[name], "blocks") for name in both}


def descending(*names: str) -> Callable[[Mapping[str, float]], bool]:
    """Whether the values are in this order, the largest first."""
    return lambda found: all(found[before] > found[after] for before, after in pairwise(names))


def near(table: str, key: str, name: str) -> Callable[[Mapping[str, float]], bool]:
    """Whether every value is within five points of the printed one."""
    theirs = {row[key]: row[name] for row in published(PAPER.name)[table]}
    return lambda found: all(points(theirs[k] / 100)(value / 100) for k, value in found.items())


def about_each(name: str) -> Callable[[Mapping[str, float]], bool]:
    """Whether every value is within a tenth of the one that table 3 has for the workload."""
    theirs = {row["workload"]: row[name] for row in published(PAPER.name)["table-3"]}
    return lambda found: all(about(theirs[key])(found[key]) for key in theirs)


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


_PAPERS_CODE = next(
    float(row["code"]) for row in published(PAPER.name)["table-3"] if row["workload"] == EC
)
_OURS = (
    "checked: {cp:.0f} and {rm:.0f} % of the references of cp and rm are the kernel's here, and "
    "{apache:.0f} % of Apache's; {code:.0f} % of the kernel's references are fetches. Without it "
    "(users) the value is {own:.2f}"
)
_KERNELS_PARTS: dict[str, Number] = {
    "cp": of_kernel("CP"),
    "rm": of_kernel("RM"),
    "apache": of_kernel("Apache"),
    "code": kernels_code,
}
_WORDS = Reason(
    "checked: an instruction is one fetch here, even if it is in two words of four bytes. With "
    "{fetches:.2f} fetches for each, EC-server has the paper's share of them, and {writes:.0f} % "
    "of its references are writes; counted in such words there are more",
    {"fetches": fetches_needed, "writes": writes_then},
)
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
        why=Reason(_OURS, _KERNELS_PARTS | {"own": own_code}),
    ),
    Claim(
        "4",
        "7 to 9 % of a workload's references are writes",
        "EC-server 7.39, DB 9.15, Web-server 6.92",
        "percent of all references",
        lambda e: of_workloads(e, "data_write"),
        about_each("data_write"),
        why=_WORDS,
    ),
    Claim(
        "4",
        "PostgreSQL writes more than Apache",
        "10.12 and 9.89 against 6.99",
        "PostgreSQL's smaller share of writes (EC-server, DB) over Apache's",
        lambda e: writes_of_servers(e, of_server),
        more_than(1),
        why=Reason(_OURS, _KERNELS_PARTS | {"own": lambda e: writes_of_servers(e, _own_share)}),
        post_hoc="PostgreSQL of EC-server alone",
    ),
    Claim(
        "4",
        "Among the utilities AWK touches the most blocks and RM the fewest",
        "AWK 9876, RM 2655",
        "distinct 32-byte blocks",
        lambda e: utilities(e, "distinct_blocks"),
        lambda found: max(found, key=found.get) == "AWK" and min(found, key=found.get) == "RM",
        why=Reason(
            "checked: {cp:.0f} and {rm:.0f} % of the references of cp and rm are the kernel's "
            "here, and gzip has a later compressor. Without the kernel (users) they touch "
            "{own:,.0f}",
            _KERNELS_PARTS | {"own": own_blocks},
        ),
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
        "distinct blocks of PostgreSQL (DB) over PostgreSQL (EC-server); with as many for each "
        "process it would be 2.6",
        lambda e: (
            of_server(e, DB, "PostgreSQL", "distinct_blocks")
            / of_server(e, EC, "PostgreSQL", "distinct_blocks")
        ),
        more_than(21 / 8),
        why=Reason(
            "checked: it depends on the queries. By the shares in tables 1 to 3 each of the "
            "paper's processes made about 4.7 million references in either mix, and touched four "
            "times "
            "as many blocks in one of them; with the same queries it cannot be more than 21/8. "
            "Here each touches {few:,.0f} blocks for itself in EC-server, and {many:,.0f} in DB",
            {"few": blocks_each(EC), "many": blocks_each(DB)},
        ),
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
        "1.5 to 1.8 % of a workload's references are to shared data",
        "EC-server 1.68, DB 1.77, Web-server 1.54",
        "percent of all references, to shared blocks of data that are written",
        lambda e: of_workloads(e, "written_shared_access"),
        about_each("shared_access"),
        why=_KERNELS,
        post_hoc="any share under 3 %, which the paper does not say",
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
        why=Reason(
            "checked: of the references to all blocks that several processes touch, including "
            "those that are never written, {ec:.0f}, {db:.0f} and {web:.0f} % are writes, of "
            "Apache's in EC-server alone {apache:.0f} % (33 % in table 2), and of PostgreSQL's "
            "{postgres:.0f} %. Of the written blocks these percentages are shared by the kernel "
            "alone: {kernel:.0f}",
            {
                "ec": of_written(EC),
                "db": of_written(DB),
                "web": of_written(WEB),
                "apache": of_written(EC, "Apache"),
                "postgres": of_written(EC, "PostgreSQL"),
                "kernel": kernels_blocks,
            },
        ),
    ),
)
"""Claims of section 4, with tables 1 to 4."""

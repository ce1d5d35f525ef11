"""The tables of the paper: our values, the printed ones below them, and the ratio."""

import json
from collections.abc import Iterator, Sequence
from statistics import median

from homenode import _core
from homenode_studies.studies.markatos.costs import PARTS, PROGRAMS, TRAFFIC, Costs, theirs
from homenode_studies.studies.markatos.points import MACHINE
from homenode_studies.studies.tables import Row, Table

TRACES = {
    "FFT": (7.44, 0.25, "FORTRAN"),
    "SIMPLE": (27.03, 2.5, "FORTRAN"),
    "SPEECH": (11.77, 2.1, "Mul-T"),
    "WEATHER": (31.76, 5.4, "FORTRAN"),
}
"""Section 3.1.1: million references, megabytes of working set, language."""
PARAMETERS = {
    "network latency": 90,
    "local memory access": 5,
    "remote memory read": 100,
    "remote memory write": 10,
    "cycles to transfer a word in replication mode": 4,
    "page fault overhead": 500,
}
"""Table 1."""
PLAIN = ("upt", "inv")
COUNTED = ("upt.del", "inv.del")
_KINDS = (
    (2, PLAIN, False, "plain protocols"),
    (6, COUNTED, False, "hardware counters"),
    (10, (*PLAIN, *COUNTED), True, "data re-alignment"),
)
_PAGE, _WORD, _OTHERS = 12, 4, 63
_COLUMNS = (*PARTS, "total", *TRAFFIC, "mls")


def parameters() -> Table:
    """Table 1 from our machine file."""
    small, large = json.loads(_core.machine_prices(MACHINE, [64, 128]))
    price = small["latencies"]
    # A replication takes the network's latency plus cycles per word.
    word = (large["latencies"]["replication"] - price["replication"]) / 16
    ours = {
        "network latency": price["replication"] - 16 * word,
        "local memory access": price["local"],
        "remote memory read": price["remote_read"],
        "remote memory write": price["remote_write"],
        "cycles to transfer a word in replication mode": word,
        "page fault overhead": price["os_entry"],
    }
    rows: list[Row] = [
        {"parameter": name, "ours": ours[name], "paper": cost} for name, cost in PARAMETERS.items()
    ]
    return Table("table-1", "architecture overheads, in cycles", rows)


def tables(costs: Costs) -> list[Table]:
    """Tables 2 to 13: our value, the paper's and the ratio, row by row."""
    return [
        Table(
            f"table-{number}",
            f"{program}, {title}: cycles and packets a reference",
            [row for point in _points(program, policies, moved) for row in _beside(costs, point)],
            "Paper: as printed. Ratio: ours over the paper's. Page: log2 of its bytes.",
        )
        for number, program, policies, moved, title in _numbered()
        if program in costs.programs()
    ]


def _numbered() -> Iterator[tuple[int, str, tuple[str, ...], bool, str]]:
    for first, policies, moved, title in _KINDS:
        for offset, program in enumerate(PROGRAMS):
            yield first + offset, program, policies, moved, title


def _points(
    program: str, policies: tuple[str, ...], moved: bool
) -> Iterator[tuple[str, str, int, bool]]:
    for policy in policies:
        for page in theirs().pages(program, policy, moved):
            yield program, policy, page, moved


def _beside(costs: Costs, point: tuple[str, str, int, bool]) -> list[Row]:
    mine, printed = costs.row(*point), theirs().row(*point)
    head = {"policy": point[1], "page": point[2]}
    return [
        {**head, "whose": "ours", **{name: mine[name] for name in _COLUMNS}},
        {**head, "whose": "paper", **{name: printed[name] for name in _COLUMNS}},
        {**head, "whose": "ratio", **{name: ratio(mine[name], printed[name]) for name in _COLUMNS}},
    ]


def ratio(mine: float | None, printed: float | None) -> float | None:
    """Our value over the paper's; nothing if that is zero or missing."""
    return mine / printed if mine is not None and printed else None


def agreement(costs: Costs) -> Table:
    """The distance of our total latencies from the printed ones, table by table."""
    rows: list[Row] = []
    for number, program, policies, moved, title in _numbered():
        if program not in costs.programs():
            continue
        ratios = {
            point: costs.cost(*point) / theirs().cost(*point)
            for point in _points(program, policies, moved)
        }
        factors = {point: max(value, 1 / value) for point, value in ratios.items()}
        order = sorted(factors, key=factors.__getitem__)
        nearest, farthest = order[0], order[-1]
        rows.append(
            {
                "table": number,
                "program": program,
                "with": title,
                "rows": len(ratios),
                "median ratio": median(ratios.values()),
                "median factor": median(factors.values()),
                "within a factor of 2": sum(factor <= 2 for factor in factors.values()),
                "nearest": _told(nearest),
                "its ratio": ratios[nearest],
                "farthest": _told(farthest),
                "ratio there": ratios[farthest],
            }
        )
    return Table(
        "agreement",
        "our total latency over the printed one, by table",
        rows,
        "Factor: the ratio or its inverse, whichever exceeds one.",
    )


def _told(point: tuple[str, str, int, bool]) -> str:
    return f"{point[1]}, {point[2]}"


def traces(costs: Costs, reports: Sequence[Row]) -> Table:
    """The table of section 3.1.1: length, working set and language of the programs."""
    rows: list[Row] = []
    for program in costs.programs():
        length, size, language = TRACES[program]
        references = costs.row(program, "upt", _PAGE)["references"]
        rows.append(
            {
                "program": program,
                "million shared references": references / 1e6,
                "paper": length,
                "MB touched": touched(reports, program) / 1e6,
                "paper's working set": size,
                "MB replicated": replicated(costs, program, references) / 1e6,
                "paper replicated": replicated(theirs(), program, length * 1e6) / 1e6,
                "language": "C",
                "paper's language": language,
            }
        )
    return Table(
        "traces",
        "the programs",
        rows,
        "Touched: all pages of 64 bytes, including private ones. Replicated: the memory implied by "
        "the replications of UPT with 4 KB pages if each page has as many copies as a multicast "
        "updates.",
    )


def touched(reports: Sequence[Row], program: str) -> float:
    """Bytes of the pages of the smallest size that a program references."""
    rows = [row for row in reports if row["program"] == program]
    smallest = min(rows, key=lambda row: int(row["page_size"]))
    return float(smallest["pages_before"] * smallest["page_size"])


def replicated(costs: Costs, program: str, references: float) -> float:
    """Bytes of the pages that UPT replicates: those that a processor other than the first reads."""
    row = costs.row(program, "upt", _PAGE)
    copied = row["replication_packets"] * _WORD * references
    return float(copied / row["mls"]) if row["mls"] else 0.0


def more_than_working_sets() -> dict[str, float]:
    """Lower bound in MB of the pages that UPT replicates in the printed tables, if above the set.

    Each of the 63 other processors replicates a page of 4 KB once and keeps it to the end.
    """
    found = {}
    for program in theirs().programs():
        packets = theirs().row(program, "upt", _PAGE)["replication_packets"]
        megabytes = packets * _WORD * TRACES[program][0] / _OTHERS
        if megabytes > TRACES[program][1]:
            found[program] = float(megabytes)
    return found

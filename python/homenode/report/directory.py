"""The part of a report about a machine with a directory: time, homes of pages, messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from homenode.options.specs import plain_number, unique
from homenode.report import page_use
from homenode.report.sentences import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markupsafe import Markup

    from homenode.engines.page_use import PageUse
    from homenode.results.result import Result
    from homenode.trace import Trace

HOMES = ("first-touch", "round-robin", "first-use", "optimal-static")
"""The homes compared: what operating systems of today do first, and the best one without moves."""

PARTS = (
    ("busy", "computing"),
    ("read_stall", "waiting for reads"),
    ("write_stall", "waiting for writes"),
    ("sync_stall", "waiting for other processors"),
    ("os_stall", "in the operating system"),
)
"""Parts of the processors' time, as fields of a row, and what they are called."""

# Homes that differ by less count as equally good.
_GAIN = 0.01
# A home is hot when it serves this multiple of its part of the fills.
_HOT = 2
# Homes that serve less are not listed, but for the first.
_LISTED = 0.01
_FEW = 4
_FREE = (
    "to map a page takes no time here but under protocols in software, as it takes as long "
    "wherever the page is (homenode simulate --page-mapping free has the same numbers)"
)
_OBJECTS = 8
_TO_DO = {
    "first-touch": "let the system map each page where it is touched first (the usual)",
    "round-robin": "deal pages out over the nodes (`numactl --interleave=all`)",
    "first-use": "let each thread be the first to write what it will use, or place pages after "
    "initialisation (`homenode_init_done`)",
    "optimal-static": "place each page at the node that uses it most (`mbind`, or first touch by "
    "that thread)",
}


@dataclass(frozen=True)
class DirectoryReport:
    """The findings about one program on one machine with a directory.

    Attributes:
        machine: the machine.
        rows: rows of `DirectoryResult`, one a protocol and home; the first is what others are
            compared with.
        uses: who used which page, one a row.
        notes: what else is to be known of the simulation.
    """

    machine: str
    rows: Sequence[dict[str, Any]]
    uses: Sequence[PageUse]
    notes: Sequence[str] = ()

    def section(self) -> dict[str, Any]:
        """The values of the template."""
        rows = self.rows
        longest = max((row["cycles"] for row in rows), default=0) or 1
        # A long table would hide its main rows.
        count = 3 if len(rows) <= _FEW else 1
        kinds = unique(kind for row in rows for kind in row["messages"] if row["messages"][kind])
        both = list(zip(rows, self.uses, strict=True))
        return {
            "machine": self.machine,
            "protocols": len({row["protocol"] for row in rows}) > 1,
            "row": rows[0],
            "nodes": self.uses[0].nodes,
            "sentences": sentences(self),
            "notes": self.notes,
            "parts": [(key, name) for key, name in PARTS if any(row[key] for row in rows)],
            "bars": [_bar(row, longest, rows[0]["cycles"]) for row in rows],
            "kinds": kinds,
            "hottest": [_loads(row, use, count) for row, use in both],
            "pictures": [_picture(row, use) for row, use in both],
            "page_bytes": self.uses[0].page_bytes,
        }

    def read_out(self) -> list[dict[str, Any]]:
        """The text of each cell of each picture."""
        return [page_use.read_out(use) for use in self.uses if len(use.page_address)]


def directory(
    trace: Trace,
    machine: str,
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Any,
) -> DirectoryReport:
    """Simulates the program on the machine with several homes of pages.

    Raises:
        ConfigError: when an option cannot be used.
        TraceError: when the trace is damaged.
    """
    import homenode

    # Mapping a page takes the same time wherever it is, so it would only blur the comparison.
    asked: Any = {"homes": list(HOMES), "page_mapping": "free", **options}
    result = homenode.simulate(trace, machine, uses=True, progress=progress, **asked)
    return of_result(result)


def of_result(result: Result) -> DirectoryReport:
    """What to report of a simulation with a clock on one machine, with `uses`."""
    notes = result.provenance["notes"]
    touched = any(row["home"] == "first-touch" for row in result)
    without_mark = touched and any("no event init-done" in note for note in notes)
    kept = [
        (row, use)
        for row, use in zip(result.rows, result.uses, strict=True)
        # It is first-touch then.
        if not (without_mark and row["home"] == "first-use")
    ]
    if result.uses[0].nodes == 1:
        # All pages have one home, whatever it is called.
        kept = [(row, use) for row, use in kept if row["home"] == kept[0][0]["home"]]
    rows, uses = [row for row, _ in kept], [use for _, use in kept]
    shown = [note for note in notes if "no event init-done" not in note]
    if result.provenance["page_mapping"] == "free":
        shown = [*shown, _FREE]
    return DirectoryReport(rows[0]["machine"], rows, uses, shown)


def sentences(report: DirectoryReport) -> list[str]:
    """The answer in one sentence, and what to do."""
    row, use = report.rows[0], report.uses[0]
    if not row["cycles"]:
        return []
    best = min(report.rows, key=lambda other: other["cycles"])
    saved = 1 - best["cycles"] / row["cycles"]
    clauses = [_time(row), *_hottest(use)]
    if saved >= _GAIN:
        said = f"with {_named(best, report)} the run takes {percent(saved)} fewer cycles"
        clauses.append(said)
    elif len(report.rows) > 1:
        clauses.append("no other home of pages that was tried makes the run 1% shorter")
    nodes = f"{row['processors']} processor{'s' if row['processors'] != 1 else ''}"
    where = f"On {report.machine} with {nodes} and {_named(row, report)}"
    found = [f"{where}, {'; '.join(clauses)}."]
    if saved >= _GAIN:
        found += [] if best["home"] == row["home"] else _to_do(best, use)
    return [*found, *_fills(row, (best, _named(best, report)), saved)]


def _to_do(best: dict[str, Any], use: PageUse) -> list[str]:
    """How to get the gain of other homes."""
    to_do = _TO_DO.get(best["home"].partition(":")[0])
    return [f"To get there, {to_do}{_of_what(use)}."] if to_do else []


def _named(row: dict[str, Any], report: DirectoryReport) -> str:
    several = len({other["protocol"] for other in report.rows}) > 1
    protocol = f" under `{row['protocol']}`" if several else ""
    return f"`{row['home']}` homes{protocol}"


def _time(row: dict[str, Any]) -> str:
    whole = row["cycles"] * row["processors"]
    waits = sorted(PARTS[1:], key=lambda part: -row[part[0]])
    main, second = ((name, row[key] / whole) for key, name in waits[:2])
    said = f"{percent(main[1])} of the processors' time is spent {main[0]}"
    if main[1] < _GAIN:
        return f"{percent(row['busy'] / whole)} of the processors' time is spent computing"
    return f"{said}, {percent(second[1])} {second[0]}" if second[1] >= _GAIN else said


def _hottest(use: PageUse) -> list[str]:
    hot = use.hottest(homes=1, objects=1)
    if not hot:
        return []
    home, even = hot[0], 1 / use.nodes
    of = home["objects"][0]
    whose = (
        "all" if of["share"] > 1 - _GAIN else "most" if of["share"] > 0.5 else percent(of["share"])
    )
    data = f"{whose} of them of `{of['label']}`"
    if use.nodes == 1:
        return [f"one memory serves all fills, {data}"]
    if home["share"] >= _HOT * even:
        return [f"node {home['node']} serves {percent(home['share'])} of all fills, {data}"]
    return [
        f"the nodes serve about equally many fills ({percent(home['share'])} the busiest, {data})"
    ]


def _of_what(use: PageUse) -> str:
    """The data structure with most fills by other nodes than the home, as a clause."""
    far = [entry for entry in objects(use) if entry["far"]]
    if not far:
        return ""
    whole = sum(entry["far"] for entry in far)
    most = max(far, key=lambda entry: entry["far"])
    return f"; {percent(most['far'] / whole)} of what comes from other nodes is `{most['label']}`"


def _fills(row: dict[str, Any], compared: tuple[dict[str, Any], str], saved: float) -> list[str]:
    best, name = compared
    if not row["fills"]:
        return []
    said = f"{percent(row['local_fill_share'])} of all fills come from the node's own memory"
    took = f"a fill takes {plain_number(row['mean_fill_cycles'])} cycles"
    if saved < _GAIN or best["mean_fill_cycles"] is None:
        return [f"{said}, and {took} on average."]
    there = f"{percent(best['local_fill_share'])} and {plain_number(best['mean_fill_cycles'])}"
    return [f"{said}, and {took} on average; with {name} it is {there}."]


def objects(use: PageUse, most: int = _OBJECTS) -> list[dict[str, Any]]:
    """The contents of the picture by data structure, those with most fills first.

    Args:
        use: who used which page.
        most: rows at most; the rest is one more.

    Returns:
        ``label``, ``pages``, ``fills``, ``far`` (fills by other nodes than the page's home at the
        end) and ``homes``, how many nodes are homes of its pages. A page belongs to the data
        structure that most of its fills are of.
    """
    found: dict[int, dict[str, Any]] = {}
    for number, home in zip(use.page_object.tolist(), use.page_home.tolist(), strict=True):
        entry = found.setdefault(
            number, {"label": use.objects[number], "pages": 0, "fills": 0, "far": 0, "homes": set()}
        )
        entry["pages"] += 1
        entry["homes"].add(home)
    owner = use.page_object[use.use_page]
    elsewhere = use.page_home[use.use_page] != use.use_node
    fills, far = (np.zeros(len(use.objects), np.uint64) for _ in range(2))
    np.add.at(fills, owner, use.use_fills)
    np.add.at(far, owner[elsewhere], use.use_fills[elsewhere])
    for number, entry in found.items():
        entry |= {"fills": int(fills[number]), "far": int(far[number])}
    ordered = sorted(found.values(), key=lambda entry: (-entry["fills"], entry["label"]))
    shown, rest = ordered[:most], ordered[most:]
    if rest:
        sums = {key: sum(entry[key] for entry in rest) for key in ("pages", "fills", "far")}
        homes = set().union(*(entry["homes"] for entry in rest))
        shown = [*shown, {"label": page_use.OTHERS, **sums, "homes": homes}]
    return [{**entry, "homes": len(entry["homes"])} for entry in shown]


def _bar(row: dict[str, Any], longest: int, first: int) -> dict[str, Any]:
    whole = max(1, row["cycles"] * row["processors"])
    return {
        "row": row,
        "widths": {key: row["cycles"] / longest * row[key] / whole for key, _ in PARTS},
        "shares": {key: row[key] / whole for key, _ in PARTS},
        "ratio": row["cycles"] / first if first else None,
        "sent": sum(row["messages"].values()),
    }


def _loads(row: dict[str, Any], use: PageUse, count: int) -> dict[str, Any]:
    """The hottest homes of one simulation, and how busy they were."""
    homes: list[dict[str, Any]] = []
    for home in use.hottest(homes=count):
        if homes and home["share"] < _LISTED:
            continue
        busy, waits = use.loads(home["node"], row["cycles"])
        homes.append({**home, "busy": busy, "waits": waits})
    return {"row": row, "homes": homes}


def _picture(row: dict[str, Any], use: PageUse) -> dict[str, Any]:
    drawn: Markup | None = page_use.draw(use) if len(use.page_address) else None
    said = page_use.explained(page_use.arrange(use)) if drawn is not None else ""
    return {"row": row, "drawn": drawn, "explained": said, "objects": objects(use)}

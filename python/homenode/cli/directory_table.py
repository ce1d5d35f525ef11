"""The tables that `homenode simulate` prints for machines with a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.output import print_table
from homenode.options.specs import format_size, plain_number, unique
from homenode.results.queues import loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.engines.directory import DirectoryResult
    from homenode.engines.page_use import PageUse

    Row = dict[str, Any]

_CACHE = ("trace", "machine", "cache_size", "associativity", "block_size")
_INVALIDATIONS = ("invalidation_true", "invalidation_false", "invalidation_passive")
_COUNTED = (
    *("misses", "cold", "replacement", "true", "false", "upgrades"),
    *("local fills", "local write-backs", "messages", "a miss", "bytes", "pages moved"),
)
_TIMES = ("busy", "read", "write", "sync", "os")
_TIMED = (
    *("miss\nrate", "local\nfills", "local\nwrite-backs"),
    *("cycles\na fill", "messages", "pages\nmoved", "page\nfaults"),
)
_LOADS = ("wait for\ncontroller", "wait for\nmemory", "memory\nin use")
_HOTTEST = 2
_SCALED = ("speed-\nup", "effi-\nciency")


def print_result(result: DirectoryResult) -> None:
    """Prints one table a machine and cache.

    A line is a protocol and home, and a number of nodes where there are several. With a clock it
    says how long that takes, and what processors do meanwhile; in the order of the trace it has the
    kinds of misses. Below are the homes that serve most fills, where that was collected.
    """
    for cache in unique(tuple(row[key] for key in _CACHE) for row in result):
        rows = [row for row in result if tuple(row[key] for key in _CACHE) == cache]
        several = len(unique(row["processors"] for row in rows)) > 1
        timed = rows[0]["order"] == "clock"
        labels = [("protocol", False), ("home", False), *([("nodes", True)] * several)]
        names = _names_timed(several=several) if timed else _COUNTED
        cells = [
            _times(row, rows, several=several) + _cells_timed(row) if timed else _cells(row)
            for row in rows
        ]
        print_table(
            [*labels, *((name, True) for name in names)],
            [_labels(row, several=several) + line for row, line in zip(rows, cells, strict=True)],
            _title(rows[0], several=several),
        )
    if result.uses:
        _print_hottest(result)


def _print_hottest(result: DirectoryResult) -> None:
    """Prints which homes serve most fills, and of which data structures."""
    machines = len(unique(row["machine"] for row in result)) > 1
    lines = []
    for row, use in zip(result.rows, result.uses, strict=True):
        label = [*([row["machine"]] * machines), row["protocol"], row["home"]]
        for home in use.hottest(homes=_HOTTEST):
            of = ", ".join(f"{of['label']} {100 * of['share']:.0f}%" for of in home["objects"])
            share = f"{100 * home['share']:.3g}%"
            lines.append([*label, str(home["node"]), share, *_waits(row, use, home["node"]), of])
            label = [""] * len(label)
    names = [*(["machine"] * machines), "protocol", "home"]
    numbers = ["node", "of all\nfills", *(_LOADS if result.rows[0]["order"] == "clock" else ())]
    columns = [(name, False) for name in names] + [(name, True) for name in numbers]
    print_table([*columns, ("of", False)], lines, "Homes that serve most fills")


def _waits(row: Row, use: PageUse, node: int) -> list[str]:
    """How long was waited for a home's controllers and memory, and for which part it was in use."""
    if row["order"] != "clock":
        return []
    (_, memory), waits = loads(use, node, row["cycles"])
    return [*waits, f"{100 * memory:.0f}%"]


def _labels(row: Row, *, several: bool) -> list[str]:
    return [row["protocol"], row["home"], *([str(row["processors"])] * several)]


def _names_timed(*, several: bool) -> list[str]:
    return ["cycles", "of\nfirst", *(_SCALED if several else ()), *_TIMES, *_TIMED]


def _times(row: Row, rows: Sequence[Row], *, several: bool) -> list[str]:
    """How long it takes, against the first line and the fewest nodes, and what for."""
    cycles, first = row["cycles"], rows[0]["cycles"]
    found = [plain_number(cycles), f"{cycles / first:.2f}" if first else "-"]
    if several:
        found += _scaling(row, rows)
    whole = cycles * row["processors"]
    parts = [row["busy"], *(row[f"{name}_stall"] for name in _TIMES[1:])]
    return found + [f"{100 * part / whole:.0f}%" if whole else "-" for part in parts]


def _scaling(row: Row, rows: Sequence[Row]) -> list[str]:
    """Speed-up and efficiency against the same with the fewest nodes."""
    same = [r for r in rows if (r["protocol"], r["home"]) == (row["protocol"], row["home"])]
    least = min(same, key=lambda r: int(r["processors"]))
    if not row["cycles"]:
        return ["-", "-"]
    gained = least["cycles"] / row["cycles"]
    return [f"{gained:.2f}", f"{100 * gained * least['processors'] / row['processors']:.0f}%"]


def _cells_timed(row: Row) -> list[str]:
    fill = row["mean_fill_cycles"]
    return [
        _percent(row["miss_rate"]),
        _percent(row["local_fill_share"]),
        _percent(row["local_write_back_share"]),
        "-" if fill is None else f"{fill:.0f}",
        plain_number(sum(row["messages"].values())),
        plain_number(row["pages_moved"]),
        plain_number(row["page_faults"]),
    ]


def _cells(row: Row) -> list[str]:
    misses, sent = row["misses"], sum(row["messages"].values())
    invalidations = [misses[name] for name in _INVALIDATIONS]
    return [
        _percent(row["miss_rate"]),
        *(plain_number(misses[name]) for name in ("cold", "replacement")),
        plain_number(invalidations[0]),
        plain_number(sum(invalidations[1:])),
        plain_number(row["upgrades"]),
        _percent(row["local_fill_share"]),
        _percent(row["local_write_back_share"]),
        plain_number(sent),
        f"{sent / row['fills']:.2f}" if row["fills"] else "-",
        plain_number(row["message_bytes"]),
        plain_number(row["pages_moved"]),
    ]


def _title(row: Row, *, several: bool) -> str:
    ways = row["associativity"]
    shape = "direct-mapped" if ways == 1 else f"{ways}-way"
    cache = f"{format_size(row['cache_size'])} caches, {shape}, {format_size(row['block_size'])}"
    nodes = "" if several else f", {row['processors']} nodes"
    order = "" if row["order"] == "clock" else ", in the order of the trace"
    return f"{row['trace']} on {row['machine']}{nodes}, {cache} blocks{order}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g}%"

"""The tables that `homenode simulate` prints for machines with a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.tables import numbers, print_table, texts
from homenode.options.specs import format_size, percent, plain_number, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.engines.page_use import PageUse
    from homenode.results.result import Result

    Row = dict[str, Any]

_CACHE = ("trace", "machine", "cache_size", "associativity", "block_size")
_INVALIDATIONS = ("invalidation_true", "invalidation_false", "invalidation_passive")
_COUNTED = (
    *("misses", "cold", "replacement", "true", "false", "upgrades"),
    *("local fills", "local write-backs", "messages", "a miss", "bytes", "pages moved"),
)
_TIMES = ("busy", "read", "write", "sync", "os")
_QUEUES = ("reads\nbounced", "cycles\nqueued")
_TIMED = (
    *("miss\nrate", "local\nfills", "local\nwrite-backs"),
    *("cycles\na fill", "messages", "pages\nmoved", "page\nfaults"),
)
_LOADS = ("wait for\ncontroller", "wait for\nmemory", "memory\nin use")
_HOTTEST = 2
_SCALED = ("speed-\nup", "effi-\nciency")
# Settings of a line, with their headings: the first two always, the others where they differ.
_SETTINGS = {
    "protocol": "protocol",
    "home": "home",
    "replication": "replication",
    "buffers": "buffers",
    "proxies": "proxies",
    "processors": "nodes",
}
_ALWAYS = ("protocol", "home")


def print_result(result: Result) -> None:
    """Prints one table a machine and cache.

    A line is a protocol and home, and what else several were simulated of: replication, buffers,
    proxies, numbers of nodes. With a clock it says how long that takes, what waited for the nodes'
    controllers, and what processors do meanwhile; in the order of the trace it has the kinds of
    misses. Below are the homes that serve most fills, where that was collected.
    """
    for cache in unique(tuple(row[key] for key in _CACHE) for row in result):
        _print_lines([row for row in result if tuple(row[key] for key in _CACHE) == cache])
    if result.uses:
        _print_hottest(result)


def _print_lines(rows: list[Row]) -> None:
    settings = _settings(rows)
    several = "processors" in settings
    timed = _is_timed(rows[0])
    names = _names_timed(rows[0], several=several) if timed else _COUNTED
    cells = [
        _times(row, rows, several=several) + _cells_timed(row) if timed else _cells(row)
        for row in rows
    ]
    print_table(
        [*_headings(settings), *numbers(*names)],
        [_labels(row, settings) + line for row, line in zip(rows, cells, strict=True)],
        _title(rows[0], settings),
        labels=len(settings),
    )


def _settings(rows: Sequence[Row]) -> list[str]:
    """The settings that identify a line: protocol, home, and others that differ among lines."""
    return [
        name for name in _SETTINGS if name in _ALWAYS or len(unique(row[name] for row in rows)) > 1
    ]


def _headings(settings: Sequence[str]) -> list[tuple[str, bool]]:
    return [(_SETTINGS[name], name == "processors") for name in settings]


def _labels(row: Row, settings: Sequence[str]) -> list[str]:
    return [str(row[name]) for name in settings]


def _print_hottest(result: Result) -> None:
    """Prints which homes serve most fills, and of which data structures."""
    machines = len(unique(row["machine"] for row in result)) > 1
    settings = _settings(result.rows)
    lines = []
    for row, use in zip(result.rows, result.uses, strict=True):
        label = [*([row["machine"]] * machines), *_labels(row, settings)]
        for home in use.hottest(homes=_HOTTEST):
            of = ", ".join(f"{of['label']} {100 * of['share']:.0f}%" for of in home["objects"])
            waits = _waits(row, use, home["node"])
            lines.append([*label, str(home["node"]), _percent(home["share"]), *waits, of])
            label = [""] * len(label)
    names = [*texts("machine") * machines, *_headings(settings)]
    shown = numbers("node", "of all\nfills", *(_LOADS if _is_timed(result.rows[0]) else ()))
    columns = [*names, *shown, *texts("of")]
    print_table(columns, lines, "Homes that serve most fills", labels=len(names) + 1)


def _waits(row: Row, use: PageUse, node: int) -> list[str]:
    """The mean waits for a home's controllers and memory, and the utilisation of the memory."""
    if not _is_timed(row):
        return []
    (_, memory), waits = use.loads(node, row["cycles"])
    return [*waits, f"{100 * memory:.0f}%"]


def _names_timed(row: Row, *, several: bool) -> list[str]:
    scaled, queues = _SCALED if several else (), _QUEUES if _has_controllers(row) else ()
    return ["cycles", "of\nfirst", *scaled, *queues, *_TIMES, *_TIMED]


def _is_timed(row: Row) -> bool:
    return bool(row["order"] == "clock")


def _has_controllers(row: Row) -> bool:
    return row.get("bounced") is not None


def _times(row: Row, rows: Sequence[Row], *, several: bool) -> list[str]:
    """Cycles, relative to the first line and to the fewest nodes, and the parts of the time."""
    cycles, first = row["cycles"], rows[0]["cycles"]
    found = [plain_number(cycles), f"{cycles / first:.2f}" if first else "-"]
    if several:
        found += _scaling(row, rows)
    if _has_controllers(row):
        found += [plain_number(row["bounced"]), _mean(row["mean_queue_cycles"])]
    whole = cycles * row["processors"]
    parts = [row["busy"], *(row[f"{name}_stall"] for name in _TIMES[1:])]
    return found + [f"{100 * part / whole:.0f}%" if whole else "-" for part in parts]


def _scaling(row: Row, rows: Sequence[Row]) -> list[str]:
    """Speed-up and efficiency against the same with the fewest nodes."""
    others = [name for name in _SETTINGS if name != "processors"]
    same = [r for r in rows if all(r[name] == row[name] for name in others)]
    least = min(same, key=lambda r: int(r["processors"]))
    if not row["cycles"]:
        return ["-", "-"]
    gained = least["cycles"] / row["cycles"]
    return [f"{gained:.2f}", f"{100 * gained * least['processors'] / row['processors']:.0f}%"]


def _cells_timed(row: Row) -> list[str]:
    return [
        _percent(row["miss_rate"]),
        _percent(row["local_fill_share"]),
        _percent(row["local_write_back_share"]),
        _mean(row["mean_fill_cycles"]),
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


def _title(row: Row, settings: Sequence[str]) -> str:
    ways = row["associativity"]
    shape = "direct-mapped" if ways == 1 else f"{ways}-way"
    cache = f"{format_size(row['cache_size'])} caches, {shape}, {format_size(row['block_size'])}"
    nodes = "" if "processors" in settings else f", {row['processors']} nodes"
    order = "" if _is_timed(row) else ", in the order of the trace"
    of_controllers = ("buffers", "proxies") if _has_controllers(row) else ()
    same = [f", {name} {row[name]}" for name in of_controllers if name not in settings]
    return f"{row['trace']} on {row['machine']}{nodes}, {cache} blocks{order}{''.join(same)}"


def _mean(cycles: float | None) -> str:
    return "-" if cycles is None else f"{cycles:.0f}"


def _percent(share: float | None) -> str:
    return percent(share, ".3g")

"""The tables that `homenode simulate` prints for machines with a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.output import print_table
from homenode.options.specs import format_size, plain_number, unique

if TYPE_CHECKING:
    from homenode.engines.directory import DirectoryResult

_CACHE = ("trace", "machine", "cache_size", "associativity", "block_size")
_INVALIDATIONS = ("invalidation_true", "invalidation_false", "invalidation_passive")
_NAMES = (
    *("misses", "cold", "replacement", "true", "false", "upgrades"),
    *("local fills", "local write-backs", "messages", "a miss", "bytes", "pages moved"),
)


def print_result(result: DirectoryResult) -> None:
    """Prints one table a machine and cache.

    A line is a protocol and home, and a number of nodes where there are several.
    """
    for cache in unique(tuple(row[key] for key in _CACHE) for row in result):
        rows = [row for row in result if tuple(row[key] for key in _CACHE) == cache]
        several = len(unique(row["processors"] for row in rows)) > 1
        labels = [("protocol", False), ("home", False), *([("nodes", True)] * several)]
        print_table(
            [*labels, *((name, True) for name in _NAMES)],
            [_cells(row, several=several) for row in rows],
            _title(rows[0], several=several),
        )


def _cells(row: dict[str, Any], *, several: bool) -> list[str]:
    misses, sent = row["misses"], sum(row["messages"].values())
    invalidations = [misses[name] for name in _INVALIDATIONS]
    return [
        row["protocol"],
        row["home"],
        *([str(row["processors"])] * several),
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


def _title(row: dict[str, Any], *, several: bool) -> str:
    ways = row["associativity"]
    shape = "direct-mapped" if ways == 1 else f"{ways}-way"
    cache = f"{format_size(row['cache_size'])} caches, {shape}, {format_size(row['block_size'])}"
    nodes = "" if several else f", {row['processors']} nodes"
    return f"{row['trace']} on {row['machine']}{nodes}, {cache} blocks, in the order of the trace"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.3g}%"

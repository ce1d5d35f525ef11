"""The table of a page-coherence machine at one page size: the columns of the paper's tables."""

from typing import Any

from homenode.cli.tables import numbers, print_table, texts
from homenode.cli.totals import total
from homenode.options.specs import plain_number

_LATENCIES = ("local", "remote", "replication", "multicast", "os", "total")
_TRAFFIC = ("replication", "remote", "multicast")
_SHORT = {"replication": "repl.", "multicast": "multi.", "os": "OS"}


def print_columns(rows: list[dict[str, Any]], title: str) -> None:
    """Prints latency in cycles a reference, traffic in packets a reference, and mls.

    Source: Markatos and Chronaki, tables 2 to 13.
    """
    latencies = [_SHORT.get(name, name) for name in _LATENCIES]
    traffic = [f"{_SHORT.get(name, name)} pkt" for name in _TRAFFIC]
    columns = [*texts("policy"), *numbers("MCPR", "cycles", *latencies, *traffic, "mls")]
    cells = [
        [
            row["policy"],
            _number(row["mcpr"]),
            total(row),
            *(_number(row["latency"][name]) for name in _LATENCIES),
            *(_number(row["traffic"][name]) for name in _TRAFFIC),
            _number(row["mls"]),
        ]
        for row in rows
    ]
    print_table(columns, cells, f"{title}; cycles in all, then cycles and packets a reference")


def _number(value: float | None) -> str:
    return "-" if value is None else plain_number(value)

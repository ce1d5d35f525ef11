"""The tables of the engines and of the file formats."""

import json
from functools import cache
from typing import Any, Literal

from homenode import _core

# Arrow and Parquet are read and written by pyarrow, on this side of the extension module.
_COLUMNAR_FORMATS: tuple[dict[str, Any], ...] = (
    {
        "name": "parquet",
        "summary": "Apache Parquet: columns thread, kind, address, size and optional pc, gap, pid",
        "extensions": ["parquet", "pq"],
        "import": True,
        "export": True,
    },
    {
        "name": "arrow",
        "summary": "Arrow IPC file with the same columns as parquet",
        "extensions": ["arrow", "feather"],
        "import": True,
        "export": True,
    },
)

COLUMNAR = frozenset(str(row["name"]) for row in _COLUMNAR_FORMATS)
KEEPING_EVENTS = frozenset({"csv", "text"})
"""Formats that keep the events of a trace when it is exported."""


def core_table(kind: str) -> list[dict[str, Any]]:
    """The entries of one table of the extension module, in documentation order.

    Args:
        kind: as for `homenode.table`, without ``workloads`` and ``studies``, which are Python's.

    >>> [row["name"] for row in core_table("formats")][-2:]
    ['parquet', 'arrow']
    """
    rows: list[dict[str, Any]] = json.loads(_core.table(kind))
    if kind == "formats":
        rows.extend(dict(row) for row in _COLUMNAR_FORMATS)
    return rows


@cache
def engines() -> dict[str, dict[str, Any]]:
    """The rows of the engines' table by name.

    >>> {name: row["default_machine"] for name, row in engines().items()}
    {'simulate': 'spr-2s', 'bus': 'bus-smp', 'directory': 'dash-mesh'}
    """
    return {row["name"]: row for row in core_table("engines")}


def format_names(way: Literal["import", "export"]) -> str:
    """The formats that can be imported or exported, for the help of a command.

    >>> format_names("export")
    'text, csv, din, parquet, arrow'
    """
    return ", ".join(str(row["name"]) for row in core_table("formats") if row[way])

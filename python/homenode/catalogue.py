"""What can be listed: machines, policies, formats and so on, each from its one table."""

from __future__ import annotations

import json
from typing import Any

from homenode import _core
from homenode.errors import ConfigError

KINDS = (
    "machines",
    "policies",
    "page-policies",
    "protocols",
    "examples",
    "workloads",
    "studies",
    "synthetic",
    "tlbs",
    "transforms",
    "formats",
)

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


def table(kind: str) -> list[dict[str, Any]]:
    """Lists one kind of thing that homenode knows, in documentation order.

    Args:
        kind: one of ``machines policies page-policies protocols examples workloads studies
            synthetic tlbs transforms formats``.

    Returns:
        One dictionary an entry, with at least ``name`` and ``summary``.

    Raises:
        ConfigError: when `kind` is none of these.

    >>> import homenode as hn
    >>> "optimal" in [row["name"] for row in hn.table("policies")]
    True
    """
    if kind not in KINDS:
        raise ConfigError(f"there is no list of {kind!r}; choose one of {', '.join(KINDS)}")
    if kind == "workloads":
        return _workloads()
    if kind == "studies":
        return _studies()
    rows: list[dict[str, Any]] = json.loads(_core.table(kind))
    if kind == "formats":
        rows.extend(dict(row) for row in _COLUMNAR_FORMATS)
    return rows


def _workloads() -> list[dict[str, Any]]:
    from homenode import workloads

    return [entry.describe() for entry in workloads.TABLE]


def _studies() -> list[dict[str, Any]]:
    from homenode import studies

    return studies.table()

"""What can be listed: machines, policies, formats and so on, each from its one table."""

from __future__ import annotations

from typing import Any

from homenode.errors import ConfigError
from homenode.options.tables import core_table

KINDS = (
    "machines",
    "policies",
    "page-policies",
    "protocols",
    "directory-protocols",
    "homes",
    "replications",
    "proxies",
    "examples",
    "workloads",
    "studies",
    "synthetic",
    "tlbs",
    "transforms",
    "formats",
)


def table(kind: str) -> list[dict[str, Any]]:
    """Lists one kind of thing that homenode knows, in documentation order.

    Args:
        kind: one of ``machines policies page-policies protocols directory-protocols homes
            replications proxies examples workloads studies synthetic tlbs transforms formats``.

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
    return core_table(kind)


def _workloads() -> list[dict[str, Any]]:
    from homenode import workloads

    return [entry.describe() for entry in workloads.TABLE]


def _studies() -> list[dict[str, Any]]:
    from homenode import studies

    return studies.table()

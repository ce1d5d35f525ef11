"""The lists of machines, policies, formats and so on, each from its one table."""

from typing import Any

from homenode import reproduction
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
    "servers",
    "tlbs",
    "transforms",
    "formats",
)


def table(kind: str) -> list[dict[str, Any]]:
    """Lists everything of one kind that homenode knows, in documentation order.

    Args:
        kind: one of ``machines policies page-policies protocols directory-protocols homes
            replications proxies examples workloads studies synthetic servers tlbs transforms
            formats``.

    Returns:
        One dictionary an entry, with at least ``name`` and ``summary``.

    Raises:
        ConfigError: when `kind` is none of these, or is ``workloads`` or ``studies`` and
            homenode-studies is not installed.

    >>> import homenode as hn
    >>> "optimal" in [row["name"] for row in hn.table("policies")]
    True
    """
    if kind not in KINDS:
        raise ConfigError(f"there is no list of {kind!r}; choose one of {', '.join(KINDS)}")
    if kind in {"workloads", "studies"}:
        rows: list[dict[str, Any]] = reproduction.module(kind).table()
        return rows
    return core_table(kind)

"""The ACE page manager over a trace: faults, page states, kernel time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from homenode import _core
from homenode.engines.placement import PRIVATE
from homenode.errors import ConfigError
from homenode.options.tables import core_table
from homenode.options.values import SYNC, choice, only_known, shape, sizes_of, whole_number
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

OWNER_COPY = ("flush", "keep")


class PmapOptions(TypedDict, total=False):
    """Choices of the page manager; what is left out has the default named here.

    owner_copy: what becomes of the writer's copy of a page when another processor reads it: it goes
        (``flush``, default) or stays, read-only (``keep``).
    costs: kernel costs in microseconds that differ from the defaults, as ``{"fault": 500}``.
    count: how many of the busiest pages to report. Default: 10.
    processors: number of processors; thread i runs on i mod it. Default: the trace's threads.
    private: private memory is managed like all other (``shared``, default), counted as local
        (``local``) or left out (``exclude``).
    sync: references to synchronisation variables are left out (``exclude``, default) or counted.
    threads: cores to use. Default: all. The report does not depend on it.
    """

    owner_copy: str
    costs: dict[str, float]
    count: int
    processors: int | None
    private: str
    sync: str
    threads: int | None


def pmap(
    trace: Trace | str | os.PathLike[str],
    page_size: int | str = 4096,
    *,
    limit: int = 4,
    policy: str = "limit",
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[PmapOptions],
) -> dict[str, Any]:
    """Runs the ACE's page manager over a trace.

    Args:
        trace: a `Trace` or the path of one.
        page_size: bytes, a power of two; or text such as ``4K``.
        limit: invalidations allowed before a page is pinned in global memory.
        policy: a name from ``homenode.table("page-policies")``.
        progress: called with the references read and in all.
        options: see `PmapOptions`.

    Returns:
        The report, with the fields that ``homenode pmap --json`` prints.

    Raises:
        ConfigError: when a policy, page size or option cannot be used.
        TraceError: when the trace is damaged.

    Source: Bolosky, thesis, section 3.1.3 (docs/pmap.md).

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0, 1, 0], kind=["W", "R", "W"], address=[64, 64, 64])
    >>> report = hn.pmap(trace, page_size=64)
    >>> report["counts"]["copies"], report["counts"]["syncs"], report["final_states"]
    (2, 1, {'global-writable': 0, 'local-writable': 1, 'read-only': 0})
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    config = configuration(page_size, limit, policy, options)
    report: dict[str, Any] = json.loads(_core.pmap(str(opened.path), json.dumps(config), progress))
    return report


def page_actions(owner_copy: str = "flush") -> list[dict[str, Any]]:
    """The manager's table: what is done at a fault, by state, kind of reference and answer.

    Raises:
        ConfigError: when `owner_copy` is neither ``flush`` nor ``keep``.

    >>> row = page_actions()[0]
    >>> row["situation"], row["access"], row["answer"], row["actions"], row["next"]
    ('read-only', 'read', 'local', 'copy', 'read-only')
    """
    rows: list[dict[str, Any]] = json.loads(_core.page_actions(owner_copy))
    return [{name: row[name] for name in row if name != "count"} for row in rows]


def configuration(
    page_size: int | str, limit: int, policy: str, options: PmapOptions
) -> dict[str, Any]:
    """The configuration as the engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    only_known(options, PmapOptions)
    names = [row["name"] for row in core_table("page-policies")]
    return {
        "page_size": _page_size(page_size),
        "policy": choice("policy", policy, names),
        "limit": whole_number("limit", limit, 0),
        "owner_copy": choice("owner_copy", options.get("owner_copy", "flush"), OWNER_COPY),
        "costs": [f"{name}={float(us)!r}" for name, us in options.get("costs", {}).items()],
        "count": whole_number("count", options.get("count", 10), 0),
        "private": choice("private", options.get("private", "shared"), PRIVATE),
        "sync": choice("sync", options.get("sync", "exclude"), SYNC),
        **shape(options),
    }


def _page_size(given: int | str) -> int:
    sizes = sizes_of(given)
    if len(sizes) != 1:
        raise ConfigError(f"page size {given!r} names {len(sizes)} sizes; expected one")
    return sizes[0]

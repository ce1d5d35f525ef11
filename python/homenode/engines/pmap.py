"""The ACE page manager over a trace: faults, page states, kernel time."""

import json
import os
from collections.abc import Callable
from typing import Any, Unpack

from homenode import _core
from homenode.options.checked import checked
from homenode.options.documented import documented
from homenode.options.tables import core_table
from homenode.options.typed import PmapOptions
from homenode.options.values import about, block_size, choice
from homenode.trace import Trace


@documented("pmap")
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
    names = [row["name"] for row in core_table("page-policies")]
    with about("page_size"):
        size = block_size(page_size, "page size")
    with about("policy"):
        chosen = choice(policy, names)
    own = checked("pmap", options)
    return {
        "page_size": size,
        "policy": chosen,
        **checked("pmap", {"limit": limit}, "limit"),
        **own,
        "costs": [f"{name}={float(us)!r}" for name, us in dict(own["costs"]).items()],
    }

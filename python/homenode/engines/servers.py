"""`servers`: traces of multiprogrammed servers from the statistics that publications print."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.options.values import about, whole_number
from homenode.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SCALE_MAX = 1 << 20
_REFERENCES_MAX = 1 << 40
_SEED_MAX = (1 << 63) - 1


def servers(
    statistics: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    scale: int = 1,
    references: int | None = None,
    seed: int | None = None,
    values: Mapping[str, float | str] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Trace:
    """Makes the trace of a multiprogrammed server from statistics.

    Args:
        statistics: a TOML file (``docs/servers.md`` defines its keys), or a name from
            ``homenode.table("servers")``.
        path: the trace to write; without it a temporary file that goes with the object.
        scale: divides all references and blocks.
        references: instead of the file's, fetches included, after scaling.
        seed: instead of the file's.
        values: further values instead of the file's, by key: ``{"sessions.accesses": 24,
            "group.Apache.kernel": 20}``. Shares and blocks are changed before scaling.
        progress: called with the references done and in all.

    Returns:
        The trace. Its ``report`` is what the trace was made to have: ``references``,
        ``processes``, ``distinct_blocks`` and ``shared_blocks``, and the same for each of the
        ``groups`` with its shares in percent.

    Raises:
        ConfigError: when the file has an unknown key, or statistics that no trace can have.
        TraceError: when the trace cannot be written.

    Source: after Trace Factory; Foglia, Giorgi and Prete 2004, section 4.

    >>> import homenode as hn
    >>> trace = hn.servers("foglia-web", scale=400)
    >>> trace.threads, trace.report["distinct_blocks"]
    (26, 182)
    """
    for what, value, most in (
        ("scale", scale, _SCALE_MAX),
        ("references", 1 if references is None else references, _REFERENCES_MAX),
    ):
        with about(what):
            whole_number(value, 1, most)
    with about("seed"):
        whole_number(0 if seed is None else seed, 0, _SEED_MAX)
    changes = json.dumps(
        {
            "scale": scale,
            "references": references,
            "seed": seed,
            "values": [(key, str(value)) for key, value in (values or {}).items()],
        }
    )
    made: list[dict[str, Any]] = []

    def write(target: str) -> None:
        made.append(json.loads(_core.servers(os.fspath(statistics), target, changes, progress)))

    trace = Trace._written(path, write)
    trace._report = made[0]["plan"]
    return trace

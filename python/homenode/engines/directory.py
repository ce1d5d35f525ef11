"""`simulate_directory`: coherence protocols and homes of pages on machines with a directory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.engines.page_use import page_use
from homenode.options.checked import checked, only_declared
from homenode.options.documented import documented
from homenode.options.values import specs_of
from homenode.results.rows import Rows, without_nesting
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from homenode.engines.page_use import PageUse
    from homenode.options.typed import DirectoryOptions


class DirectoryResult(Rows):
    """What protocols do on machines with a directory, under policies of homes.

    Attributes:
        rows: one dictionary a machine, protocol, home, cache and number of nodes, with exactly the
            fields that ``homenode simulate --json`` prints: trace, machine, protocol, home,
            replication, proxies, buffers, processors, cache_size, block_size, associativity, order,
            seed, references, reads,
            writes, misses (by cause), upgrades, fills, local_fills, write_backs,
            local_write_backs, messages (by kind, between different nodes), message_bytes,
            pages_moved, miss_rate, local_fill_share and local_write_back_share; with a clock
            also cycles, busy, read_stall, write_stall, sync_stall, os_stall (cycles of all
            processors), mean_fill_cycles, mean_read_response_cycles, hops, page_faults,
            tlb_misses, pages_replicated, replicas_dropped, mean_queue_cycles, max_queue,
            network_utilisation, controller_utilisation, memory_utilisation and deadlocks_broken;
            where nodes have controllers also bounced, retried, proxy_reads and combined.
        configuration: the options of the call.
        provenance: everything that the rows depend on: trace, options, machines, version.
        uses: who used which page, a `PageUse` a row, if they were collected; else empty.

    The flat columns are ``misses_NAME`` and ``messages_NAME``.

    Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, sections 3 and 4.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Any]],
        configuration: dict[str, Any] | None = None,
        provenance: dict[str, Any] | None = None,
        uses: Sequence[PageUse] = (),
    ) -> None:
        super().__init__(rows, configuration, provenance)
        self.uses = list(uses)

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        return without_nesting(row)


@documented("directory")
def simulate_directory(
    trace: Trace | str | os.PathLike[str],
    protocols: str | Iterable[str] | None = None,
    *,
    uses: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[DirectoryOptions],
) -> DirectoryResult:
    """Simulates protocols on machines with a directory, in cycles or in the order of the trace.

    Args:
        trace: a `Trace` or the path of one.
        protocols: names from ``homenode.table("directory-protocols")``, with parameters as in
            ``dash:pointers=4``; without any ``dash``, or ``sdd`` where nodes have controllers.
        uses: whether to collect who used which page and which homes served that, for `uses` of the
            result.
        progress: called with the work done and in all.
        options: see `DirectoryOptions`.

    Returns:
        One row for each combination, in the order machine, protocol, home, cache size,
        associativity, block size, number of nodes.

    Raises:
        ConfigError: when a machine, protocol, home, cache or option cannot be used.
        TraceError: when the trace is damaged.

    Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, sections 3 and 4.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(
    ...     thread=[0, 1, 1, 0], kind=["W", "R", "W", "R"], address=[64, 64, 64, 64])
    >>> result = hn.simulate_directory(trace, homes="first-touch,fixed:node=1", order="trace")
    >>> [(row["home"], row["local_fills"], row["messages"]["request"]) for row in result]
    [('first-touch', 2, 2), ('fixed:node=1', 1, 2)]

    Who filled the one page under the second home, which served all of that:

    >>> use = hn.simulate_directory(trace, homes="fixed:node=1", order="trace", uses=True).uses[0]
    >>> use.page_address.tolist(), use.page_home.tolist(), use.fills().tolist()
    ([0], [1], [[2, 1]])
    >>> [(home["node"], home["fills"], home["share"]) for home in use.hottest()]
    [(1, 3, 1.0)]
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    only_declared("directory", options)
    config = checked("directory", options)
    if protocols is not None:
        config["protocols"] = specs_of(protocols, "protocol")
    path, asked = str(opened.path), json.dumps(config)
    if uses:
        text, columns = _core.directory_uses(path, asked, progress)
    else:
        text, columns = _core.simulate_directory(path, asked, progress), []
    found = json.loads(text)
    collected = [page_use(of_one) for of_one in columns]
    return DirectoryResult(found["outcomes"], config, found["provenance"], collected)


__all__ = ["DirectoryResult", "simulate_directory"]

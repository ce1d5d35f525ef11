"""Coherence protocols and homes of pages on machines with a directory: results and options."""

from collections.abc import Iterable
from typing import Any, Unpack

from homenode.options.checked import check_order, checked
from homenode.options.typed import DirectoryOptions
from homenode.options.values import specs_of
from homenode.results.result import Result
from homenode.results.rows import flat


class DirectoryResult(Result):
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
            where nodes have controllers also bounced, retried, proxy_reads, combined,
            mean_input_cycles and max_input.
        configuration: the options of the call.
        provenance: everything that the rows depend on: trace, options, machines, version.
        uses: who used which page, a `PageUse` a row, if they were collected; else empty.

    The flat columns are ``misses_NAME`` and ``messages_NAME``.

    Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, sections 3 and 4.
    """

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        return flat(row)


def configuration(
    protocols: str | Iterable[str] | None = None, **options: Unpack[DirectoryOptions]
) -> dict[str, Any]:
    """The configuration of a simulation as the engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    config = checked("directory", options)
    why = "in the order of the trace nothing takes time, and each write is complete at once"
    check_order("directory", options, config["order"], why)
    if protocols:
        config["protocols"] = specs_of(protocols, "protocol")
    return config


__all__ = ["DirectoryResult"]

"""Coherence protocols of processors on a bus or with links: results, points, `check_protocols`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.errors import ConfigError, option_error
from homenode.options.checked import check_order, checked
from homenode.options.tables import core_table, engines
from homenode.options.values import specs_of
from homenode.results.result import Result
from homenode.results.rows import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.figure import Figure

    from homenode.options.typed import BusOptions

# The settings of a point.
_OF_ALL = ("machines", "cache_sizes", "associativities", "block_sizes", "scaling")
_WHY_NOT_IN_TRACE_ORDER = (
    "in the order of the trace nothing is scheduled and addresses are those of the trace"
)


class BusResult(Result):
    """What protocols do on machines with a bus.

    Attributes:
        rows: one dictionary a machine, protocol and cache, with exactly the fields that ``homenode
            simulate --json`` prints: trace, machine, protocol, processors, cache_size, block_size,
            associativity, order, kernel_activity, references, block_references, hits, misses,
            transactions, coherence, kernel, miss_rate, bus_cycles, gsp, bus_utilisation, cycles,
            processor_utilisation, busy_cycles, delay_cycles, idle_cycles, switches, migrations,
            forced, rounds_least and rounds_most.
        scalability: one dictionary a machine, protocol and cache, where several numbers of
            processors were simulated: machine, protocol, cache_size, block_size, associativity and
            critical_point, the number beyond which one more adds less than 0.5 to the power.
        configuration: the options of the call.
        provenance: everything that the rows depend on: trace, options, version.

    The flat columns are ``misses_NAME``, ``transactions_NAME``, ``coherence_NAME``, and the same
    after ``kernel_``.

    Source: Foglia, Giorgi and Prete 2004, section 4.
    """

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        return flat(row)

    def plot(self, machine: str | None = None) -> Figure:
        """Power and bus utilisation against processors, cache size or block size.

        Args:
            machine: only this machine.

        Raises:
            ConfigError: when nothing was simulated in cycles, all that differs is the protocol, or
                matplotlib is missing (``pip install 'homenode[plot]'``).
        """
        from homenode.results.plot import power_on_a_bus

        kept = [row for row in self if machine in (None, row["machine"])]
        return power_on_a_bus(BusResult(kept, self.configuration, self.provenance))


def check_protocols(
    protocols: str | Iterable[str] = (), nodes: int | None = None
) -> list[dict[str, Any]]:
    """Explores everything that can happen in up to four caches with one block.

    Args:
        protocols: names from ``homenode.table("protocols")`` and
            ``homenode.table("directory-protocols")``; all of them if there is none.
        nodes: maximum number of nodes explored for protocols with a directory, 2 to 4. Default: 3,
            2 for ``lrc``, 4 for ``sdd``. With 4 ``dash`` takes half a minute and a gigabyte.

    Returns:
        One dictionary a protocol: protocol, caches, situations, events, states, cells, impossible
        and findings, each with kind, message, steps and caches; a protocol without findings keeps
        its promises. Those with a directory have nodes and steps instead of caches and events.

    Raises:
        ConfigError: when there is no such protocol.

    >>> import homenode as hn
    >>> [report["findings"] for report in hn.check_protocols("mesi,dragon")]
    [[], []]
    """
    of_directories = [row["name"] for row in core_table("directory-protocols")]
    known = [row["name"] for row in core_table("protocols")] + of_directories
    names = specs_of(protocols, "protocol") if protocols else known
    kinds = [name.removesuffix("+proxies").partition(":")[0] in of_directories for name in names]
    on_bus = [name for name, other in zip(names, kinds, strict=True) if not other]
    others = [name for name, other in zip(names, kinds, strict=True) if other]
    reports: list[dict[str, Any]] = json.loads(_core.check_protocols(on_bus)) if on_bus else []
    reports += json.loads(_core.check_directory_protocols(others, nodes))
    return reports


def configuration(
    protocols: str | Iterable[str] = (), **options: Unpack[BusOptions]
) -> dict[str, Any]:
    """The configuration of a simulation as the engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    config = checked("bus", options)
    check_order("bus", options, config["order"], _WHY_NOT_IN_TRACE_ORDER)
    config["points"] = [_point(point) for point in config["points"]]
    _check_links(config["contention"], config["points"], config["machines"])
    if not config["points"]:
        return {**config, "protocols": specs_of(protocols, "protocol") if protocols else []}
    both = [name for name in _OF_ALL if options.get(name)] + ["protocols"] * bool(protocols)
    if both:
        raise ConfigError(f"points say what is simulated: leave out {both[0]}")
    return {**config, "machines": [], "protocols": []}


def _check_links(contention: object, points: list[dict[str, Any]], machines: list[str]) -> None:
    """Refuses contention on machines whose model has no links.

    Raises:
        ConfigError: naming the first such machine.
    """
    if contention is None:
        return
    default = str(engines()["bus"]["default_machine"])
    of_points = [str(point.get("machine", default)) for point in points]
    named = of_points or machines or [default]
    for machine, kind in zip(named, _core.machine_kinds(named), strict=True):
        if kind != "multicore":
            raise option_error(
                "contention",
                "--contention",
                f" {contention}: {machine} has no links, and its bus serves one transaction at a "
                "time; choose a machine with links, such as spr-2s-lines",
            )


def _point(given: Mapping[str, Any]) -> dict[str, Any]:
    """One combination, with names and types checked; options that are not set are left out."""
    if not given.get("protocol"):
        raise ConfigError("a point names no protocol")
    point = checked("bus-point", given)
    return {name: value for name, value in point.items() if value is not None}


__all__ = ["BusResult", "check_protocols"]

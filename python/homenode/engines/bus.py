"""`simulate_bus` and `check_protocols`: coherence protocols of processors that share a bus."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from homenode import _core
from homenode.errors import ConfigError
from homenode.options.specs import parse_cache_sizes, unique
from homenode.options.values import (
    SYNC,
    choice,
    only_known,
    shape,
    sizes_of,
    specs_of,
    whole_number,
)
from homenode.results.rows import Rows
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from matplotlib.figure import Figure

ORDERS = ("clock", "trace")
SCHEDULERS = ("random", "affinity")
ADDRESSES = ("auto", "pages", "trace")
PRIVATE = ("local", "exclude", "shared")
FETCHES = ("include", "exclude")
MISS_RULES = ("dubois", "torrellas")
FULL = "full"
"""The associativity of a cache that is one set."""

_PROCESSORS_MAX = 1024
# What points have one of each.
_OF_ALL = ("machines", "cache_sizes", "associativities", "block_sizes", "scaling")
_COUNTS = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_RANGE = re.compile(r"(0x[0-9a-f]+|[0-9]+)-(0x[0-9a-f]+|[0-9]+)", re.IGNORECASE)


class BusPoint(TypedDict, total=False):
    """One combination of a machine, a protocol, a cache and a number of processors."""

    machine: str
    protocol: str
    cache_size: int
    associativity: int
    block_size: int
    processors: int
    scheduler: str


class BusOptions(TypedDict, total=False):
    """Choices of a simulation on a bus; what is left out has the default named here.

    machines: names from ``homenode.table("machines")`` or TOML files. Default: ``bus-smp``.
    cache_sizes: bytes of each processor's cache. Default: the machine's.
    associativities: blocks in a set, or ``full``. Default: the machine's.
    block_sizes: bytes, powers of two from 16 to 1024. Default: the machine's.
    processors: number of processors. Default: the trace's threads.
    scaling: several numbers of processors instead, each simulated: a list, or text as ``4,8,12`` or
        ``1-20``. Default: none.
    order: ``clock`` (default): in cycles, on processors that a scheduler gives to processes;
        ``trace``: each reference completes before the next one begins, thread i on processor i mod
        their number.
    scheduler: which ready process a processor takes: ``random`` or ``affinity``. Default: the
        machine's.
    seed: for what scheduler and frames leave to chance. Default: 1.
    kernel_model: whether what a kernel refers to is made up, for traces without one.
    addresses: those of ``pages`` that are put into frames, or, as in the ``trace``, of memory.
        Default: ``auto``, the latter for traces of a whole system.
    private_ranges: private areas beside those of the trace, as text such as ``0x1000-0x2000`` or
        as pairs: the first byte, and one past the last.
    private: references that the trace calls private are to private areas (``local``, default), like
        all others (``shared``), or left out (``exclude``).
    sync: references to synchronisation variables are counted (``include``, default) or left out.
    fetches: instruction fetches are counted as reads (``include``, default) or left out.
    miss_rule: when an invalidation miss is true sharing: when what others wrote is used in the
        copy's life (``dubois``, default), or when the word that misses was written (``torrellas``).
    check: every read is checked to return what was written last. Default: no.
    points: only these combinations, in this order, instead of all: dictionaries with ``protocol``,
        and, where it is not the default, ``machine``, ``cache_size``, ``associativity``,
        ``block_size``, ``processors`` and ``scheduler``. Then no lists of these are given.
    threads: cores to use. Default: all. The result does not depend on it.
    """

    machines: str | Iterable[str]
    cache_sizes: str | int | Iterable[int]
    associativities: str | int | Iterable[int | str]
    block_sizes: str | int | Iterable[int]
    processors: int | None
    scaling: str | int | Iterable[int] | None
    order: str
    scheduler: str | None
    kernel_model: bool
    seed: int | None
    addresses: str | None
    private_ranges: Iterable[str | tuple[int, int]]
    private: str | None
    sync: str
    fetches: str
    miss_rule: str
    check: bool
    points: Iterable[Mapping[str, Any]]
    threads: int | None


class BusResult(Rows):
    """What protocols do on machines with a bus.

    Attributes:
        rows: one dictionary a machine, protocol and cache, with exactly the fields that ``homenode
            simulate --json`` prints: trace, machine, protocol, processors, cache_size, block_size,
            associativity, order, kernel_activity, references, block_references, hits, misses,
            transactions, coherence, kernel, miss_rate, bus_cycles, gsp, bus_utilisation, cycles,
            processor_utilisation, busy_cycles, delay_cycles, idle_cycles, switches, migrations and
            forced.
        scalability: one dictionary a machine, protocol and cache, where several numbers of
            processors were simulated: machine, protocol, cache_size, block_size, associativity and
            critical_point, the number beyond which one more adds less than 0.5 to the power.
        configuration: what was asked for.
        provenance: what the rows follow from.

    The flat columns are ``misses_NAME``, ``transactions_NAME``, ``coherence_NAME``, and the same
    after ``kernel_``.

    Source: Foglia, Giorgi and Prete 2004, section 4.
    """

    scalability: list[dict[str, Any]]

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        return _flatten(row)

    def plot(self) -> Figure:
        """Power and bus utilisation against processors, cache size or block size.

        Raises:
            ConfigError: when nothing was simulated in cycles, or all that differs is the protocol.
            ModuleNotFoundError: when matplotlib is missing (``pip install 'homenode[plot]'``).
        """
        from homenode.results.plot import power_on_a_bus

        return power_on_a_bus(self)


def simulate_bus(
    trace: Trace | str | os.PathLike[str],
    protocols: str | Iterable[str] = (),
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[BusOptions],
) -> BusResult:
    """Simulates protocols on machines with a bus in one pass over the trace.

    Args:
        trace: a `Trace` or the path of one.
        protocols: names from ``homenode.table("protocols")``, with parameters as in
            ``pscr:private_kernel=yes``; none with the option ``points``.
        progress: called with the work done and in all.
        options: see `BusOptions`.

    Returns:
        One row for every combination, in the order machine, protocol, cache size, associativity,
        block size, number of processors; with the option ``points``, one row for each of them.

    Raises:
        ConfigError: when a machine, protocol, cache or option cannot be used.
        TraceError: when the trace is damaged.

    Source: Foglia, Giorgi and Prete 2004, sections 2 and 4.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(
    ...     thread=[0, 1, 0, 1], kind=["W", "R", "W", "R"], address=[64, 64, 64, 64])
    >>> result = hn.simulate_bus(
    ...     trace, "mesi,pscr", cache_sizes=4096, block_sizes=32, order="trace")
    >>> [(row["protocol"], row["hits"], row["transactions"]["invalidate"]) for row in result]
    [('mesi', 1, 1), ('pscr', 2, 0)]
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    config = configuration(protocols, **options)
    found = json.loads(_core.simulate_bus(str(opened.path), json.dumps(config), progress))
    result = BusResult(found["outcomes"], config, found["provenance"])
    result.scalability = found["scalability"]
    return result


def check_protocols(protocols: str | Iterable[str] = ()) -> list[dict[str, Any]]:
    """Explores everything that can happen in up to four caches with one block of two words.

    Args:
        protocols: names from ``homenode.table("protocols")``; all of them if there is none.

    Returns:
        One dictionary a protocol: protocol, caches, situations, events, states, cells, impossible
        and findings, each with kind, message, steps and caches; a protocol without findings keeps
        its promises.

    Raises:
        ConfigError: when there is no such protocol.

    >>> import homenode as hn
    >>> [report["findings"] for report in hn.check_protocols("mesi,dragon")]
    [[], []]
    """
    names = specs_of(protocols, "protocol") if protocols else []
    reports: list[dict[str, Any]] = json.loads(_core.check_protocols(names))
    return reports


def configuration(
    protocols: str | Iterable[str] = (), **options: Unpack[BusOptions]
) -> dict[str, Any]:
    """The configuration of a simulation as the engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    only_known(options, BusOptions)
    return {
        **_combinations(protocols, options),
        **_order(options),
        "private_ranges": [address_range(r) for r in options.get("private_ranges", ())],
        "private": choice("private", str(options.get("private") or "local"), PRIVATE),
        "sync": choice("sync", options.get("sync", "include"), SYNC),
        "fetches": choice("fetches", options.get("fetches", "include"), FETCHES),
        "miss_rule": choice("miss_rule", options.get("miss_rule", "dubois"), MISS_RULES),
        "check": bool(options.get("check", False)),
        **shape(options),
    }


def _combinations(protocols: str | Iterable[str], options: BusOptions) -> dict[str, Any]:
    """Machines, protocols, caches and numbers of processors: lists of each, or points."""
    points = [_point(point) for point in options.get("points") or ()]
    if points:
        both = [name for name in _OF_ALL if options.get(name)] + ["protocols"] * bool(protocols)
        if both:
            raise ConfigError(f"points say what is simulated: leave out {both[0]}")
        return {"machines": [], "protocols": [], "points": points}
    return {
        "machines": specs_of(options.get("machines") or "bus-smp", "machine"),
        "protocols": specs_of(protocols, "protocol"),
        "cache_sizes": _cache_sizes(options.get("cache_sizes")),
        "associativities": _ways(options.get("associativities")),
        "block_sizes": _sizes(options.get("block_sizes")),
        "scaling": _counts(options.get("scaling")),
    }


def _point(given: Mapping[str, Any]) -> dict[str, Any]:
    """One combination, checked as far as names and types go."""
    only_known(given, BusPoint)
    if not given.get("protocol"):
        raise ConfigError("a point names no protocol")
    point: dict[str, Any] = {"machine": str(given.get("machine") or "bus-smp")}
    point["protocol"] = str(given["protocol"])
    for name in ("cache_size", "associativity", "block_size", "processors"):
        if given.get(name) is not None:
            point[name] = whole_number(name, given[name], 1)
    if given.get("scheduler") is not None:
        point["scheduler"] = choice("scheduler", str(given["scheduler"]), SCHEDULERS)
    return point


def _order(options: BusOptions) -> dict[str, Any]:
    """The options ``order``, ``scheduler``, ``seed``, ``addresses`` and ``kernel_model``."""
    order = choice("order", options.get("order") or "clock", ORDERS)
    said = [name for name in ("scheduler", "seed", "addresses") if options.get(name) is not None]
    said += ["kernel_model"] * bool(options.get("kernel_model"))
    if order == "trace" and said:
        raise ConfigError(
            f"{said[0]} is for order clock: in the order of the trace nothing is scheduled and "
            "addresses are those of the trace"
        )
    scheduler, seed = options.get("scheduler"), options.get("seed")
    return {
        "order": order,
        "scheduler": None if scheduler is None else choice("scheduler", scheduler, SCHEDULERS),
        "seed": 1 if seed is None else whole_number("seed", seed, 0),
        "addresses": choice("addresses", options.get("addresses") or "auto", ADDRESSES),
        "kernel_model": bool(options.get("kernel_model", False)),
    }


def _counts(given: str | int | Iterable[int] | None) -> list[int]:
    """Numbers of processors: a list, or text as ``4,8`` or ``1-20``."""
    if not isinstance(given, str):
        listed = [] if given is None else [given] if isinstance(given, int) else list(given)
        return unique(whole_number("number of processors", count, 1) for count in listed)
    counts: list[int] = []
    for part in given.split(","):
        match = _COUNTS.fullmatch(part.strip())
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high <= _PROCESSORS_MAX:
            raise ConfigError(
                f"numbers of processors {part!r}: expected numbers from 1 to {_PROCESSORS_MAX}, as "
                "in 4,8 or 1-20"
            )
        counts.extend(range(low, high + 1))
    return unique(counts)


def address_range(given: str | tuple[int, int]) -> list[int]:
    """A range of addresses: its first byte, and one past the last.

    Raises:
        ConfigError: when it is none, or empty.

    >>> address_range("0x1000-0x2000")
    [4096, 8192]
    """
    if isinstance(given, str):
        match = _RANGE.fullmatch(given.strip())
        if match is None:
            raise ConfigError(
                f"private range {given!r}: expected LO-HI, the first byte and one past the last, "
                "as in 0x1000-0x2000"
            )
        low, high = (int(word, 0) for word in match.groups())
    else:
        low, high = given
    if not 0 <= low < high < 1 << 64:
        raise ConfigError(
            f"private range {low:#x}-{high:#x}: expected the first byte and, after it, one past "
            "the last"
        )
    return [low, high]


def _sizes(given: str | int | Iterable[int] | None) -> list[int]:
    return [] if given is None or given == [] else sizes_of(given)


def _cache_sizes(given: str | int | Iterable[int] | None) -> list[int]:
    if isinstance(given, str):
        return parse_cache_sizes(given)
    listed = [] if given is None else [given] if isinstance(given, int) else list(given)
    return unique(whole_number("cache size", size, 1) for size in listed)


def _ways(given: str | int | Iterable[int | str] | None) -> list[int | None]:
    if given is None:
        return []
    listed: list[Any] = given.split(",") if isinstance(given, str) else [given]
    if not isinstance(given, str | int):
        listed = list(given)
    return unique(_way(one) for one in listed)


def _way(given: Any) -> int | None:
    """Blocks in a set; ``None`` for all that there are."""
    text = str(given).strip()
    if text == FULL:
        return None
    if not text.isdecimal():
        raise ConfigError(f"associativity is {given!r}; expected a number from 1 on, or {FULL}")
    return whole_number("associativity", int(text), 1)


def _flatten(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A row without dictionaries in it."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{name}_")
        else:
            flat[prefix + name] = value
    return flat


__all__ = ["BusOptions", "BusResult", "check_protocols", "simulate_bus"]

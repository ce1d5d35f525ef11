"""`simulate`: a trace on machines of any kind."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Unpack

from homenode import _core
from homenode.engines import bus, directory, placement
from homenode.engines.page_use import PageUse
from homenode.engines.table import engine_for, engines_with
from homenode.options.checked import checked
from homenode.options.documented import documented
from homenode.options.tables import engines
from homenode.options.typed import EngineOptions
from homenode.options.values import about, points, specs_of
from homenode.results.result import Result
from homenode.trace import Trace


class Frontend(NamedTuple):
    """How Python calls an engine."""

    configuration: Callable[..., dict[str, Any]]
    """The configuration as the engine takes it, from options as users give them."""
    result: type[Result]


FRONTENDS = {
    "simulate": Frontend(placement.configuration, Result),
    "bus": Frontend(bus.configuration, bus.BusResult),
    "directory": Frontend(directory.configuration, directory.DirectoryResult),
}
"""Engines whose options or results need more than their schema says."""


@documented("simulate", "bus", "directory")
def simulate(
    trace: Trace | str | os.PathLike[str],
    machines: str | Iterable[str] | None = None,
    policies: str | Iterable[str] | None = None,
    block_sizes: str | int | Iterable[int] | None = None,
    *,
    protocols: str | Iterable[str] | None = None,
    uses: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[EngineOptions],
) -> Result:
    """Simulates every combination of machines and what they choose from, in one pass.

    Machines with prices have policies; machines with caches have coherence protocols, and those
    with a directory also homes of pages.

    Args:
        trace: a `Trace` or the path of one.
        machines: names from ``homenode.table("machines")``, TOML files, or prices in place such as
            ``prices:r=15,R=59`` (units: one local reference); default: a machine that has the given
            options, ``spr-2s`` if all have them.
        policies: of machines with prices: names from ``homenode.table("policies")``, with
            parameters as in ``delay:n=50,limit=2``; default: all made for the machines.
        block_sizes: bytes, powers of two; or text such as ``64-8192`` or ``64,4K``; default: the
            machines' own.
        protocols: of machines with caches: names from ``homenode.table("protocols")`` or
            ``homenode.table("directory-protocols")``, with parameters as in
            ``pscr:private_kernel=yes``; default: all on a bus, ``mesi`` with links, ``dash`` with a
            directory, ``sdd`` where nodes have controllers.
        uses: whether to collect who used which page and which homes served that, for `uses` of the
            result, on machines with a directory.
        progress: called with the work done and in all.
        options: see `EngineOptions`.

    Returns:
        One row for each combination, machines first; on machines with caches a `BusResult`, with a
        directory a `DirectoryResult`.

    Raises:
        ConfigError: when machines are of different kinds, or a machine, policy, protocol or option
            cannot be used.
        TraceError: when the trace is damaged.

    Source: Bolosky, thesis, chapter 4, equations 4.1 and 4.2 (cost of a placement); Markatos and
    Chronaki, table 1 (latency of page-coherence events); Foglia, Giorgi and Prete 2004, sections 2
    and 4 (bus); Marchetti, Kontothanassis, Bianchini and Scott 1995, sections 3 and 4 (directory).

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(
    ...     thread=[0, 1, 0, 1], kind=["W", "R", "W", "R"], address=[64, 64, 64, 64])
    >>> result = hn.simulate(trace, "prices:r=15,R=59", "optimal", 64)
    >>> result.rows[0]["total_cost"]
    32
    >>> hn.simulate(trace).rows[0]["machine"]
    'spr-2s'

    On a bus, and on a machine with a directory whose one page has its home in node 1:

    >>> caches = {"cache_sizes": 4096, "block_sizes": 32}
    >>> result = hn.simulate(trace, "bus-smp", protocols="mesi,pscr", order="trace", **caches)
    >>> [(row["protocol"], row["hits"], row["transactions"]["invalidate"]) for row in result]
    [('mesi', 1, 1), ('pscr', 2, 0)]
    >>> result = hn.simulate(
    ...     trace, "dash-mesh", homes="first-touch,fixed:node=1", order="trace", uses=True)
    >>> [(row["home"], row["local_fills"], row["messages"]["request"]) for row in result]
    [('first-touch', 1, 2), ('fixed:node=1', 2, 2)]
    >>> [(home["node"], home["fills"], home["share"]) for home in result.uses[1].hottest()]
    [(1, 3, 1.0)]
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    named = {"policies": policies, "block_sizes": block_sizes, "protocols": protocols}
    given: dict[str, Any] = {**options, **{k: v for k, v in named.items() if v is not None}}
    if machines is not None:
        given["machines"] = specs_of(machines, "machine")
    if given.get("points") is not None:
        with about("points"):
            given["points"] = points(given["points"])
    of_points = [str(p.get("machine", _machine_of_points())) for p in given.get("points") or ()]
    engine = engine_for(given.get("machines") or of_points or None, given)
    config = configuration(engine, given)
    found, columns = _core.simulate(engine, str(opened.path), json.dumps(config), uses, progress)
    return result_of(engine, json.loads(found), config, columns)


def _machine_of_points() -> str:
    (engine,) = engines_with("points")
    return str(engines()[engine]["default_machine"])


def configuration(engine: str, options: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a simulation as its engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    frontend = FRONTENDS.get(engine)
    if frontend is not None:
        return frontend.configuration(**options)
    return checked(engine, options)


def result_of(
    engine: str,
    found: dict[str, Any],
    config: dict[str, Any],
    columns: Iterable[dict[str, Any]] = (),
) -> Result:
    """The result of a simulation, from what its engine returned."""
    made = FRONTENDS[engine].result if engine in FRONTENDS else Result
    result = made(found["outcomes"], config, found["provenance"])
    result.scalability = found.get("scalability", [])
    result.uses = [_page_use(of_one) for of_one in columns]
    return result


def _page_use(columns: dict[str, Any]) -> PageUse:
    # NumPy takes a tenth of a second to load.
    from homenode.engines.page_use import PageUse

    return PageUse(**columns)


__all__ = ["simulate"]

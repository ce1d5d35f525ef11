"""`simulate`: a trace under machines, policies and block sizes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from homenode import _core
from homenode.errors import ConfigError
from homenode.options.tables import core_table
from homenode.options.values import (
    SYNC,
    choice,
    only_known,
    shape,
    sizes_of,
    specs_of,
    whole_number,
)
from homenode.results.result import Result
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

REALIGN_WINDOW = 1_000_000
"""References of a window of re-alignment (Markatos and Chronaki, section 3.4)."""

PRIVATE = ("local", "exclude", "shared")


class SimulateOptions(TypedDict, total=False):
    """Choices of a simulation; what is left out has the default named here.

    processors: number of processors; thread i runs on i mod it. Default: the trace's threads.
    private: references to private memory are charged as ``local``, left out (``exclude``) or
        treated as all others (``shared``). Default: ``exclude`` on page-coherence machines,
        ``local`` on the others.
    sync: references to synchronisation variables are left out (``exclude``, default) or counted.
    realign: data are first re-aligned to pages of each block size, as ``homenode transform
        realign`` does it, by windows of so many references; ``True`` for 1,000,000. Default: no.
    threads: cores to use. Default: all. The result does not depend on it.
    force: accept prices that the cost model calls invalid. Default: no.
    """

    processors: int | None
    private: str | None
    sync: str
    realign: int | None
    threads: int | None
    force: bool


def simulate(
    trace: Trace | str | os.PathLike[str],
    machines: str | Iterable[str],
    policies: str | Iterable[str],
    block_sizes: str | int | Iterable[int],
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[SimulateOptions],
) -> Result:
    """Simulates every combination of machine, policy and block size in one pass over the trace.

    Args:
        trace: a `Trace` or the path of one.
        machines: names from ``homenode.table("machines")``, TOML files, or prices in place such as
            ``prices:r=15,R=59`` (units: one local reference).
        policies: names from ``homenode.table("policies")``, with parameters as in
            ``delay:n=50,limit=2``; `policies_for` names all that some machines can run.
        block_sizes: bytes, powers of two; or text such as ``64-8192`` or ``64,4K``.
        progress: called with the work done and in all.
        options: see `SimulateOptions`.

    Returns:
        One outcome for every combination, in the order trace, machine, policy, block size.

    Raises:
        ConfigError: when a machine, policy, block size or option cannot be used.
        TraceError: when the trace is damaged.

    Source: Bolosky, thesis, chapter 4, equations 4.1 and 4.2 (cost of a placement); Markatos and
    Chronaki, table 1 (latency of page-coherence events).

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0, 1, 0], kind=["W", "R", "W"], address=[64, 64, 64])
    >>> result = hn.simulate(trace, "prices:r=15,R=59", "optimal", 64)
    >>> result.rows[0]["total_cost"]
    17
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    config = configuration(machines, policies, block_sizes, **options)
    found = json.loads(_core.simulate(str(opened.path), json.dumps(config), progress))
    return Result(found["outcomes"], config, found["provenance"])


def policies_for(machines: Iterable[str], force: bool = False) -> list[str]:
    """The policies made for these machines that every one of them can run, in documentation order.

    A policy that keeps blocks in global memory needs machines that have it. A page-coherence
    machine has policies of its own; what runs on both kinds is named for a mixture of them.

    Raises:
        ConfigError: when there is no such machine.

    >>> "all-global" in policies_for(["numa"]), "all-global" in policies_for(["ace"])
    (False, True)
    >>> policies_for(["markatos"])[:3]
    ['upt', 'inv', 'inv.freez']
    """
    rows = [json.loads(_core.machine_prices(machine, [], force))[0] for machine in machines]
    everywhere = all(row["g"] is not None for row in rows)
    models = {row["model"] for row in rows}
    if "bus" in models:
        raise ConfigError(
            "machines with caches and a bus have protocols instead of policies: use "
            "homenode.simulate_bus, or homenode simulate --protocol"
        )

    def made_for(policy: dict[str, Any]) -> bool:
        if len(models) == 1:
            return policy["model"] in models
        return models <= set(policy["runs_on"])

    return [
        row["name"]
        for row in core_table("policies")
        if made_for(row) and (everywhere or not row["needs_global"])
    ]


def configuration(
    machines: str | Iterable[str],
    policies: str | Iterable[str],
    block_sizes: str | int | Iterable[int],
    **options: Unpack[SimulateOptions],
) -> dict[str, Any]:
    """The configuration of a simulation as the engines take it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    only_known(options, SimulateOptions)
    return {
        "machines": specs_of(machines, "machine"),
        "policies": specs_of(policies, "policy"),
        "block_sizes": sizes_of(block_sizes),
        "private": None
        if options.get("private") is None
        else choice("private", str(options["private"]), PRIVATE),
        "sync": choice("sync", options.get("sync", "exclude"), SYNC),
        "realign": _window(options.get("realign")),
        "force": bool(options.get("force", False)),
        **shape(options),
    }


def _window(given: int | None) -> int | None:
    """References of a window of re-alignment; ``True`` and ``False`` are numbers to Python."""
    if given is None or given is False:
        return None
    return REALIGN_WINDOW if given is True else whole_number("realign", given, 1)

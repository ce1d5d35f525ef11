"""`simulate`: a trace under machines, policies and block sizes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.errors import ConfigError
from homenode.options.checked import checked, only_declared
from homenode.options.documented import documented
from homenode.options.tables import core_table
from homenode.options.values import sizes_of, specs_of
from homenode.results.result import Result
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from homenode.options.typed import SimulateOptions

MACHINES = ("spr-2s",)
"""The default machine: the pages of two sockets of today."""


@documented("simulate")
def simulate(
    trace: Trace | str | os.PathLike[str],
    machines: str | Iterable[str] = MACHINES,
    policies: str | Iterable[str] | None = None,
    block_sizes: str | int | Iterable[int] | None = None,
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
            ``delay:n=50,limit=2``; default: all made for the machines.
        block_sizes: bytes, powers of two; or text such as ``64-8192`` or ``64,4K``; default: the
            machines' own.
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
    >>> hn.simulate(trace).rows[0]["machine"]
    'spr-2s'
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    wanted = specs_of(machines, "machine")
    if policies is None:
        policies = policies_for(wanted, options.get("force") or False)
    if block_sizes is None:
        block_sizes = own_block_sizes(wanted)
    config = configuration(wanted, policies, block_sizes, **options)
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
    if models & {"bus", "multicore"}:
        raise ConfigError(
            "machines with caches have protocols instead of policies: use "
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


def own_block_sizes(machines: Iterable[str]) -> list[int]:
    """The block sizes that machines are usually simulated with.

    >>> own_block_sizes(["numa"]), own_block_sizes(["cc", "numa"])
    ([4096], [64, 4096])
    """
    rows = [json.loads(_core.machine_prices(machine, [], True))[0] for machine in machines]
    return sorted({int(row["block_size"]) for row in rows})


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
    only_declared("simulate", options)
    return {
        "machines": specs_of(machines, "machine"),
        "policies": specs_of(policies, "policy"),
        "block_sizes": sizes_of(block_sizes),
        **checked("simulate", options),
    }

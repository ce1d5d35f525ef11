"""Machines with prices: their policies, block sizes and options."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from homenode import _core
from homenode.errors import ConfigError
from homenode.options.checked import checked
from homenode.options.tables import core_table, engines
from homenode.options.typed import SimulateOptions
from homenode.options.values import sizes_of, specs_of

MACHINES = (str(engines()["simulate"]["default_machine"]),)
"""The default machine: the pages of two sockets of today."""


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
            "homenode.simulate with protocols, or homenode simulate --protocol"
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


def refuse_latencies(machines: Sequence[str]) -> None:
    """Refuses machines whose prices the optimum cannot use.

    Raises:
        ConfigError: naming the first machine of the page-coherence model.
    """
    for machine, kind in zip(machines, _core.machine_kinds(list(machines)), strict=True):
        if kind == "page-coherence":
            raise ConfigError(
                f"machine {machine} has latencies, from which no optimum can be found; choose a "
                "machine with prices r and R, such as --machine numa, or simulate policies on this "
                f"one with homenode simulate --machine {machine}"
            )


def own_block_sizes(machines: Iterable[str]) -> list[int]:
    """The block sizes that machines are usually simulated with.

    >>> own_block_sizes(["numa"]), own_block_sizes(["cc", "numa"])
    ([4096], [64, 4096])
    """
    rows = [json.loads(_core.machine_prices(machine, [], True))[0] for machine in machines]
    return sorted({int(row["block_size"]) for row in rows})


def configuration(
    machines: str | Iterable[str] = MACHINES,
    policies: str | Iterable[str] | None = None,
    block_sizes: str | int | Iterable[int] | None = None,
    **options: Unpack[SimulateOptions],
) -> dict[str, Any]:
    """The configuration of a simulation as the engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    own = checked("simulate", options)
    named = specs_of(machines, "machine")
    if policies is None:
        policies = policies_for(named, own["force"])
    if block_sizes is None:
        block_sizes = own_block_sizes(named)
    return {
        "machines": named,
        "policies": specs_of(policies, "policy"),
        "block_sizes": sizes_of(block_sizes),
        **own,
    }

"""What `homenode simulate` does on machines whose processors share a bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.options import only_on
from homenode.errors import ConfigError

if TYPE_CHECKING:
    from homenode.engines.bus import BusResult


def is_on_bus(options: dict[str, Any]) -> bool:
    """Whether the options of `homenode simulate` that are given are about machines on a bus.

    Raises:
        ConfigError: when they are about machines of both kinds, or about neither.
    """
    from homenode import _core

    bus_only = [option for name, option in only_on("bus").items() if name in options]
    on_bus = _core.are_on_bus(options["machines"]) if "machines" in options else bool(bus_only)
    if bus_only and not on_bus:
        raise ConfigError(
            f"{bus_only[0].flag} is for machines with caches and a bus, such as --machine bus-smp; "
            "machines with prices of references have policies (--policy)"
        )
    return on_bus


def run(trace: str, options: dict[str, Any]) -> BusResult:
    """Simulates with the options of the command line, showing progress.

    Raises:
        ConfigError: when an option of other machines is given.
    """
    import homenode
    from homenode.cli.progress import Progress

    for name in options:
        # An option and how it is done: --realign, --realign-window.
        option = only_on("simulate").get(name.removesuffix("_window"))
        if option is not None:
            flag = f"--{name.replace('_', '-')}" if name.endswith("_window") else option.flag
            raise ConfigError(
                f"{flag} is for machines with prices of references; "
                "a machine on a bus has protocols (--protocol) and caches"
            )
    chosen = dict(options)
    protocols = chosen.pop("protocols", None) or [
        row["name"] for row in homenode.table("protocols")
    ]
    with Progress("simulating") as progress:
        return homenode.simulate_bus(trace, protocols, progress=progress, **chosen)

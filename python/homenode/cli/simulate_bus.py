"""What `homenode simulate` does on machines whose processors have coherent caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.options import only_on
from homenode.errors import ConfigError

if TYPE_CHECKING:
    from homenode.engines.bus import BusResult


def has_caches(options: dict[str, Any]) -> bool:
    """Whether the options of `homenode simulate` that are given are about machines with caches.

    Raises:
        ConfigError: when they are about machines of both kinds, or about neither.
    """
    from homenode import _core

    bus_only = [option for name, option in only_on("bus").items() if name in options]
    cached = _core.have_caches(options["machines"]) if "machines" in options else bool(bus_only)
    if bus_only and not cached:
        raise ConfigError(
            f"{bus_only[0].flag} is for machines with caches, such as --machine spr-2s-lines or "
            "bus-smp; machines with prices of references have policies (--policy)"
        )
    return cached


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
                "a machine with caches has protocols (--protocol)"
            )
    chosen = dict(options)
    protocols = chosen.pop("protocols", None) or _protocols(chosen.get("machines", []))
    with Progress("simulating") as progress:
        return homenode.simulate_bus(trace, protocols, progress=progress, **chosen)


def _protocols(machines: list[str]) -> list[str]:
    """All protocols on a bus; on machines of today MESI, which they have."""
    import homenode
    from homenode import _core

    if "multicore" in _core.machine_kinds(machines):
        return ["mesi"]
    return [row["name"] for row in homenode.table("protocols")]

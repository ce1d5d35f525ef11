"""What `homenode simulate` does on machines whose processors have coherent caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.simulate_kind import refuse_options_of_others

if TYPE_CHECKING:
    from homenode.engines.bus import BusResult


def run(trace: str, options: dict[str, Any]) -> BusResult:
    """Simulates with the options of the command line, showing progress.

    Raises:
        ConfigError: when an option of other machines is given.
    """
    import homenode
    from homenode.cli.progress import Progress

    refuse_options_of_others(options, "bus", "a machine with caches has protocols (--protocol)")
    chosen = dict(options)
    protocols = chosen.pop("protocols", None) or _protocols(chosen.get("machines", []))
    with Progress("simulating") as progress:
        return homenode.simulate_bus(trace, protocols, progress=progress, **chosen)


def _protocols(machines: list[str]) -> list[str]:
    """All protocols on a bus; MESI on machines of today."""
    import homenode
    from homenode import _core

    if "multicore" in _core.machine_kinds(machines):
        return ["mesi"]
    return [row["name"] for row in homenode.table("protocols")]

"""`run`: an execution-driven simulation of a program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.capture import recording
from homenode.engines.bus import BusResult
from homenode.engines.bus import configuration as bus_configuration
from homenode.engines.directory import DirectoryResult
from homenode.errors import ConfigError
from homenode.options.checked import checked, only_declared
from homenode.options.declared import options_of
from homenode.options.values import specs_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

MACHINE, HOME = "bus-smp", "first-touch"
# Ways of recording references.
_WAYS = ("via", "sysroot", "emulator")


def run(
    command: Sequence[str | os.PathLike[str]],
    protocols: str | Iterable[str] | None = None,
    *,
    machine: str = MACHINE,
    output: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Any,
) -> BusResult | DirectoryResult:
    """Runs a program on a simulated machine.

    The machine decides which thread runs next: the one with the least simulated time. So work
    queues, spinning and waiting react to what the machine makes them wait for, and the program's
    clocks show simulated time.

    Args:
        command: the program and its arguments.
        protocols: one coherence protocol; without any ``mesi`` on a bus or with links, else what
            `simulate_directory` takes.
        machine: a machine whose engine has a clock: a name or a TOML file.
        output: where to write the trace of the run, in simulated order; else nowhere.
        progress: called with the references made until now.
        options: `RunOptions`, ``slack`` and ``expected_threads``, and those of `simulate_bus` or
            `simulate_directory` for this machine; there are eight processors, and homes are
            ``first-touch``, unless it is said. Also ``via``: ``cc``, the default, for a program
            built with ``homenode cc``, ``qemu`` for any Linux program; and with ``qemu``
            ``sysroot``, where the libraries of a program for another instruction set are, and
            ``emulator``, which is the one for the program, from ``PATH``, unless it is said.

    Returns:
        What `simulate_bus` or `simulate_directory` returns, with one row. Its ``run_summary`` says
        what the program came to: among others ``exit_code``, ``signal``, ``references`` and
        ``references_per_second``.

    Raises:
        ConfigError: when the program cannot be run, or machine, protocol or an option cannot be
            used.
        TraceError: when the trace cannot be written.

    Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, section 3: execution-driven
    simulation.
    """
    words = [str(word) for word in command]
    if not words:
        raise ConfigError("there is no program: give it and its arguments")
    seen = {name: str(options.pop(name)) for name in _WAYS if name in options}
    if seen.get("via") != "qemu" and (seen.get("sysroot") or seen.get("emulator")):
        raise ConfigError("--sysroot and --emulator go with --via qemu: leave them out")
    own = {name: options.pop(name) for name in options_of("run") if name in options}
    choice = {name: value for name, value in checked("run", own).items() if value is not None}
    given = {"argv": words, "output": "" if output is None else str(output), **seen}
    kind = _kind(machine, options)
    options["machines"] = machine
    if kind == "directory":
        options.setdefault("homes", HOME)
        only_declared("directory", options)
        config = checked("directory", options)
        if protocols is not None:
            config["protocols"] = specs_of(protocols, "protocol")
        call = _core.run_directory
    else:
        config = bus_configuration("mesi" if protocols is None else protocols, **options)
        call = _core.run_bus
    with recording.ready(given):
        text, summary = call(json.dumps(config), json.dumps(choice), json.dumps(given), progress)
    found = json.loads(text)
    result: BusResult | DirectoryResult
    if kind == "directory":
        result = DirectoryResult(found["outcomes"], config, found["provenance"], [])
    else:
        result = BusResult(found["outcomes"], config, found["provenance"])
        result.scalability = []
    result.run_summary = json.loads(summary)
    return result


def _kind(machine: str, options: dict[str, Any]) -> str:
    """Which engine simulates the machine; refuses options of the other one."""
    if _core.machine_kinds([machine]) == ["directory"]:
        kind, other = "directory", "bus"
    elif _core.have_caches([machine]):
        kind, other = "bus", "directory"
    else:
        raise ConfigError(
            f"--machine {machine} has prices of references and no clock: a program runs on "
            "machines such as bus-smp, spr-2s-lines, dash-mesh or alite"
        )
    own, others = options_of(kind), options_of(other)
    for name in options:
        if name not in own and name in others:
            raise ConfigError(f"{others[name].flag} is for other machines than {machine}")
    return kind


__all__ = ["run"]

"""`run`: an execution-driven simulation of a program."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from homenode import _core
from homenode.capture import recording
from homenode.engines.simulation import configuration, result_of
from homenode.engines.table import engine_for
from homenode.errors import ConfigError, option_error
from homenode.options.checked import checked
from homenode.options.declared import options_of
from homenode.results.result import Result

MACHINE = "bus-smp"
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
) -> Result:
    """Runs a program on a simulated machine.

    The machine decides which thread runs next: the one with the least simulated time. So work
    queues, spinning and waiting react to what the machine makes them wait for, and the program's
    clocks show simulated time.

    Args:
        command: the program and its arguments.
        protocols: one coherence protocol; without any ``mesi`` on a bus, else what `simulate`
            takes.
        machine: a machine whose engine has a clock: a name or a TOML file.
        output: where to write the trace of the run, in simulated order; else nowhere.
        progress: called with the references made until now.
        options: ``slack`` and ``expected_threads``, and those of `simulate` for this machine; there
            are eight processors by default, not one for each thread, as the number of threads is
            not known in advance. Also ``via``: ``cc``, the default, for a program built with
            ``homenode cc``, ``qemu`` for any Linux program; and with ``qemu`` ``sysroot``,
            the folder with the libraries of a program for another instruction set, and
            ``emulator``, by default the one for the program, from ``PATH``.

    Returns:
        What `simulate` returns, with one row. Its ``run_summary`` says what the program came to:
        among others ``exit_code``, ``signal``, ``references`` and ``references_per_second``.

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
    for name in ("sysroot", "emulator"):
        if seen.get(name) and seen.get("via") != "qemu":
            raise option_error(name, f"--{name}", " is for programs that QEMU runs: leave it out")
    own = {name: options.pop(name) for name in options_of("run") if name in options}
    choice = {name: value for name, value in checked("run", own).items() if value is not None}
    given = {"argv": words, "output": "" if output is None else str(output), **seen}
    if protocols is not None:
        options["protocols"] = protocols
    engine = engine_for([machine], options)
    config = configuration(engine, {**options, "machines": machine})
    asked = (json.dumps(config), json.dumps(choice))
    with recording.ready(given):
        text, summary = _core.run(engine, *asked, json.dumps(given), progress)
    result = result_of(engine, json.loads(text), config)
    result.run_summary = json.loads(summary)
    return result


__all__ = ["run"]

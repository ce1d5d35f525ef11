"""How far the replay of a trace is from a run that the simulated machine drives.

The publications about caches ran their programs under the simulator; our studies replay recordings,
in which what each thread does was settled by the recorder's turns. Here each program runs both
ways, in its small size, so that a reader sees what that may come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode import workloads
from homenode.engines.directory import simulate_directory
from homenode.engines.live import run
from homenode.errors import ConfigError
from homenode.studies import programs
from homenode.studies.cache import ResultCache
from homenode.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homenode.studies.context import StudyContext
    from homenode.studies.programs import Program
    from homenode.studies.tables import Row

NAME = "trace-driven"
# Cycles that a thread may run ahead of the others: results of programs without races are the same
# with any, and a tenth takes ten times as long.
SLACK = 100
_HUNDRED = 100


def table(context: StudyContext, machine: str, protocol: str, options: Mapping[str, Any]) -> Table:
    """The trace-driven error of each program, on one machine.

    Args:
        context: whose programs; they run in their small sizes.
        machine: a machine with a directory.
        protocol: a protocol of it.
        options: those of `simulate_directory` for both ways.

    Raises:
        ConfigError: when a program fails.
    """
    gaps = {row["name"]: row["gap"] for row in programs.listed(context.publication)}
    chosen = {program.name for program in context.programs}
    rows = [
        _row(context, program, (machine, protocol), {**options, "gap": gaps[program.name]})
        for program in programs.available(context.publication, quick=True)
        if program.name in chosen
    ]
    note = (
        f"Small sizes on {machine}, {protocol}. Cycles of the replay of a recording, and of the "
        f"program run by the machine, whose threads are at most {SLACK} cycles ahead of each other "
        "(homenode run); error of the replay in percent of the latter."
    )
    return Table(NAME, "trace-driven error: replays against runs driven by the machine", rows, note)


def _row(
    context: StudyContext, program: Program, of: tuple[str, str], options: dict[str, Any]
) -> Row:
    with context.watch(f"recording {program.name}, small") as step:
        trace = programs.trace_of(program, context.folder, step)
    cached = ResultCache(context.folder, trace)
    question = {"driven": of, "slack": SLACK, "threads": program.threads, **options}
    cycles = cached.get(question)
    if cycles is None:
        machine, protocol = of
        replayed = simulate_directory(trace, protocol, machines=machine, **options)
        with context.watch(f"running {program.name}, small") as step:
            cycles = [replayed.rows[0]["cycles"], _driven(context, program, of, options, step)]
        cached.put(question, cycles)
        cached.save()
    replay, directed = cycles
    return {
        "program": program.name,
        "arguments": " ".join(program.words),
        "references": trace.references,
        "replay": replay,
        "run": directed,
        "error": _HUNDRED * (replay / directed - 1),
    }


def _driven(
    context: StudyContext,
    program: Program,
    of: tuple[str, str],
    options: dict[str, Any],
    step: Any,
) -> int:
    """Cycles of the program under the machine.

    Raises:
        ConfigError: when it fails.
    """
    machine, protocol = of
    binary = context.folder / program.workload
    workloads.build(program.workload, binary, "homenode")
    found = run(
        [str(binary.absolute()), *program.words],
        protocol,
        machine=machine,
        progress=step,
        processors=program.threads,
        slack=SLACK,
        **options,
    )
    code = found.run_summary["exit_code"]
    if code != 0:
        raise ConfigError(f"{program.workload} ended with exit code {code} under {machine}")
    return int(found.rows[0]["cycles"])

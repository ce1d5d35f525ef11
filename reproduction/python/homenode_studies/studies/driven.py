"""Compares the replay of a trace with a run that the simulated machine drives.

The publications about caches ran their programs under the simulator; our studies replay recordings,
in which the recorder's turns determined the behaviour of each thread. Here each program runs both
ways, in its small size, which shows the possible size of the effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from homenode.engines.live import run
from homenode.engines.parallel import all_in_parallel
from homenode.engines.simulation import simulate
from homenode.errors import ConfigError
from homenode_studies import workloads
from homenode_studies.studies import programs
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from homenode.trace import Trace
    from homenode_studies.studies.context import Step, StudyContext
    from homenode_studies.studies.programs import Program

NAME = "trace-driven"
# Cycles that a thread may run ahead of the others: results of programs without races are the same
# with any, and a tenth takes ten times as long.
SLACK = 100
_HUNDRED = 100


def table(context: StudyContext, machine: str, protocol: str, options: Mapping[str, Any]) -> Table:
    """The trace-driven error of each program, on one machine.

    Args:
        context: the context with the programs, which run in their small sizes.
        machine: a machine with a directory.
        protocol: a protocol of it.
        options: those of `simulate` for both ways.

    Raises:
        ConfigError: when a program fails.
    """
    gaps = {row["name"]: row["gap"] for row in programs.listed(context.publication)}
    chosen = {program.name for program in context.programs}
    cases = [
        _case(context, program, (machine, protocol), {**options, "gap": gaps[program.name]})
        for program in programs.available(context.publication, quick=True)
        if program.name in chosen
    ]
    _find(context, [case for case in cases if case.cycles is None])
    rows = [case.row() for case in cases]
    note = (
        f"Small sizes on {machine}, {protocol}. Cycles of the replay of a recording, and of the "
        f"program run by the machine, whose threads are at most {SLACK} cycles ahead of each other "
        "(homenode run); error of the replay in percent of the latter."
    )
    return Table(NAME, "trace-driven error: replays against runs driven by the machine", rows, note)


@dataclass
class _Case:
    """One program, run both ways.

    Attributes:
        program: in its small size.
        trace: its recording.
        of: machine and protocol.
        options: those of `simulate` for both ways.
        cached: the results that are kept for the trace.
        question: the key of the kept result.
        cycles: of the replay and of the run, if known.
    """

    program: Program
    trace: Trace
    of: tuple[str, str]
    options: dict[str, Any]
    cached: ResultCache
    question: dict[str, Any]
    cycles: list[int] | None

    def row(self) -> Row:
        replay, directed = self.cycles or (0, 0)
        return {
            "program": self.program.name,
            "arguments": " ".join(self.program.words),
            "references": self.trace.references,
            "replay": replay,
            "run": directed,
            "error": _HUNDRED * (replay / directed - 1),
        }


def _case(
    context: StudyContext, program: Program, of: tuple[str, str], options: dict[str, Any]
) -> _Case:
    with context.watch(f"recording {program.name}, small") as step:
        trace = programs.trace_of(program, context.folder, step)
    cached = ResultCache(context.folder, trace)
    question = {"driven": of, "slack": SLACK, "threads": program.threads, **options}
    return _Case(program, trace, of, options, cached, question, cached.get(question))


def _find(context: StudyContext, cases: Sequence[_Case]) -> None:
    """Runs programs both ways, several programs at a time: each runs one thread at a time.

    Raises:
        ConfigError: when one fails.
    """
    if not cases:
        return
    names = ", ".join(case.program.name for case in cases)
    with context.watch(f"running {names}, small") as step:
        all_in_parallel([partial(_both_ways, context.folder, case) for case in cases], step)


def _both_ways(folder: Path, case: _Case, step: Step) -> None:
    machine, protocol = case.of
    replayed = simulate(case.trace, protocols=protocol, machines=machine, **case.options)
    case.cycles = [int(replayed.rows[0]["cycles"]), _driven(folder, case, step)]
    # Saved at once, so that a study that is stopped finds it when it is run again.
    case.cached.put(case.question, case.cycles)
    case.cached.save()


def _driven(folder: Path, case: _Case, step: Step) -> int:
    """Cycles of the program under the machine.

    Raises:
        ConfigError: when it fails.
    """
    (machine, protocol), program = case.of, case.program
    binary = folder / program.workload
    workloads.build(program.workload, binary, "homenode")
    found = run(
        [str(binary.absolute()), *program.words],
        protocol,
        machine=machine,
        progress=step,
        processors=program.threads,
        slack=SLACK,
        **case.options,
    )
    code = found.run_summary["exit_code"]
    if code != 0:
        raise ConfigError(f"{program.workload} ended with exit code {code} under {machine}")
    return int(found.rows[0]["cycles"])

"""The demonstration: real programs, every policy, and two statements of the thesis checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.demo import programs
from homenode.engines.placement import policies_for
from homenode.engines.simulation import simulate
from homenode.options.specs import format_size, unique
from homenode.results.result import Result
from homenode.trace import Trace

Progress = Callable[[int, int | None], None]

MACHINES = ("numa", "cc", "cc+", "dsm", "dsm+")
BLOCK_SIZES = tuple(64 << i for i in range(8))
THREADS = 8
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Program:
    """A program of the demonstration.

    Attributes:
        name: of its source, `NAME.c`.
        arguments: its size, chosen so that the whole demonstration takes about a minute.
        falls: whether the thesis says that its cost falls as blocks get smaller.
    """

    name: str
    arguments: tuple[str, ...]
    falls: bool


# sorbyr is the thesis's exception: its edge rows of 4 KB migrate as a whole (section 6.2.2, figure
# 6.6). sorbyc computes the same thing in another order. gauss, which is not here, has rows of 2 KB
# that are read as a whole and is cheapest at that size.
PROGRAMS = (
    Program("p-qsort", ("-n", "20000"), falls=True),
    Program("fft", ("-n", "256"), falls=True),
    Program("sorbyc", ("-n", "406", "-i", "20"), falls=True),
    Program("sorbyr", ("-n", "406", "-i", "20"), falls=False),
)


@dataclass(frozen=True)
class Check:
    """A statement about the outcomes.

    Attributes:
        statement: what the thesis says.
        holds: whether it is so here.
        detail: our numbers, a line each.
    """

    statement: str
    holds: bool
    detail: list[str]


def record(program: Program, folder: Path, progress: Progress) -> Trace:
    """Compiles a program with ``homenode cc`` and records it with eight threads.

    Raises:
        ConfigError: when the compiler or the program fails.
        TraceError: when the trace cannot be written.
    """
    source = programs.source(program.name)
    binary = programs.build(source, folder / program.name, "homenode")
    # As a person would type it, so that the recording does not depend on where the folder is.
    start = str(binary) if binary.is_absolute() else f"./{binary}"
    command = [start, "-p", str(THREADS), *program.arguments]
    return Trace.record(command, folder / f"{program.name}.hnt", progress=progress)


def replay(trace: Trace, progress: Progress) -> Result:
    """Simulates every policy on the base machines at every block size."""
    return simulate(trace, MACHINES, policies_for(MACHINES), BLOCK_SIZES, progress=progress)


def optimum_is_least(outcomes: Sequence[dict[str, Any]]) -> Check:
    """No policy costs less than the optimum, at any point.

    Source: Bolosky, thesis, section 4.2 (what optimal means).
    """
    best = {_point(row): row["total_cost"] for row in outcomes if row["policy"] == "optimal"}
    above = [row for row in outcomes if row["total_cost"] is None or _at_least(row, best)]
    return Check(
        "the optimum is below every policy at every point",
        len(above) == len(outcomes),
        [f"{len(above):,} of {len(outcomes):,} outcomes cost at least the optimum"],
    )


def smaller_is_cheaper(program: Program, outcomes: Sequence[dict[str, Any]]) -> Check:
    """How the optimum's cost goes with block size, on every machine.

    Source: Bolosky, thesis, section 6.2.2 and figures 6.4 to 6.6.
    """
    curves = _curves(outcomes)
    low, high = format_size(BLOCK_SIZES[0]), format_size(BLOCK_SIZES[-1])
    if program.falls:
        statement = f"{program.name}: smaller blocks are cheaper ({low} against {high})"
        agreeing = [name for name, curve in curves.items() if curve[0][1] < curve[-1][1]]
    else:
        statement = f"{program.name}: the smallest blocks are not the cheapest"
        agreeing = [name for name, curve in curves.items() if _cheapest(curve) > curve[0][0]]
    detail = [_told(name, curve) for name, curve in curves.items()]
    return Check(statement, len(agreeing) == len(curves), detail)


def checks(results: Sequence[tuple[Program, Result]]) -> list[Check]:
    """Every statement that the demonstration checks."""
    outcomes = [row for _, result in results for row in result]
    found = [smaller_is_cheaper(program, result.rows) for program, result in results]
    return [*found, optimum_is_least(outcomes)]


def _curves(outcomes: Sequence[dict[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """MCPR of the optimum against block size, by machine."""
    return {
        machine: sorted(
            (row["block_size"], row["mcpr"])
            for row in outcomes
            if row["policy"] == "optimal" and row["machine"] == machine
        )
        for machine in unique(row["machine"] for row in outcomes)
    }


def _cheapest(curve: list[tuple[int, float]]) -> int:
    return min(curve, key=lambda point: point[1])[0]


def _told(machine: str, curve: list[tuple[int, float]]) -> str:
    size, mcpr = min(curve, key=lambda point: point[1])
    return (
        f"{machine + ':':5} {curve[0][1]:.3f} at {format_size(curve[0][0])}, "
        f"{curve[-1][1]:.3f} at {format_size(curve[-1][0])}, "
        f"least {mcpr:.3f} at {format_size(size)}"
    )


def _point(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["trace"], row["machine"], row["block_size"]


def _at_least(row: dict[str, Any], best: dict[tuple[Any, ...], float]) -> bool:
    return bool(row["total_cost"] >= best[_point(row)] * (1 - _ROUNDING))

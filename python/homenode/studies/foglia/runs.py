"""The simulations: run once for all figures, cached beside the traces, looked up by setting."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homenode.engines.bus import simulate_bus
from homenode.options.specs import unique
from homenode.studies.cache import ResultCache
from homenode.studies.foglia.matrix import EXTENDED, Setting, wanted
from homenode.studies.tables import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from homenode.studies.context import StudyContext
    from homenode.studies.programs import Program
    from homenode.studies.tables import Evidence, Row
    from homenode.trace import Trace

_OF_SETTING = tuple(Setting.__annotations__)
RESTART = True
"""Section 4: applications run "in a continuous and cyclical way", for a fixed amount of work."""
_DATA_ONLY = Path(__file__).with_name("data-references.toml")


@dataclass(frozen=True)
class Machine:
    """The machine for a trace.

    Attributes:
        name: as in results.
        spec: as the engine takes it.
        stands_for: references of the paper's traces that one of this trace is worth.
    """

    name: str
    spec: str
    stands_for: int

    def question(self, setting: Setting) -> dict[str, Any]:
        """What is asked of a trace, wherever the machine's file lies."""
        asked: dict[str, Any] = {"machine": self.name, "restart": RESTART, **setting.point()}
        if self.spec != self.name:
            asked["digest"] = hashlib.sha256(Path(self.spec).read_bytes()).hexdigest()[:16]
        return asked

    def point(self, setting: Setting) -> dict[str, Any]:
        """A point for the engine."""
        return {"machine": self.spec, **setting.point()}


def machine_for(trace: Trace) -> Machine:
    """``bus-smp``, or where no fetches were recorded the machine that makes up for them.

    Three quarters of the references of the paper's workloads are fetches (table 3). A data
    reference then takes the time of four references, a turn has fewer of them, and rates are for
    four times as many references.
    """
    if trace.info["fetches"]:
        return Machine("bus-smp", "bus-smp", 1)
    return Machine(_DATA_ONLY.stem, str(_DATA_ONLY), 4)


class Runs:
    """Simulated points: one row a workload and setting."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._at = {
            (row["workload"], Setting(**{name: _plain(row[name]) for name in _OF_SETTING})): row
            for row in self.rows
        }

    def workloads(self) -> list[str]:
        """The workloads that were simulated, in order."""
        return unique(row["workload"] for row in self.rows)

    def at(self, workload: str, setting: Setting) -> Row:
        """One point.

        Raises:
            Missing: when it was not simulated.
        """
        try:
            return self._at[workload, setting]
        except KeyError:
            if workload not in self.workloads():
                raise Missing(f"needs {workload}, which this run does not have") from None
            raise Missing(f"{setting} was not simulated") from None

    def has(self, workload: str, setting: Setting) -> bool:
        """Whether a point was simulated."""
        return (workload, setting) in self._at

    def curve(self, workload: str, base: Setting) -> list[Row]:
        """One machine with every number of processors that was simulated, ascending."""
        found = [
            (setting.processors, row)
            for (name, setting), row in self._at.items()
            if name == workload and setting.changed(processors=base.processors) == base
        ]
        return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def extended(rows: Iterable[Row]) -> list[Row]:
    """The same simulations with PSCR's extension to the kernel's pages in the place of PSCR."""
    kept = (row for row in rows if row["protocol"] != "pscr")
    return [row | {"protocol": "pscr"} if row["protocol"] == EXTENDED else row for row in kept]


def ours(evidence: Evidence) -> Runs:
    """The simulations among the evidence.

    Raises:
        Missing: when there are none.
    """
    return Runs(evidence.rows("points"))


def simulated(context: StudyContext) -> list[Row]:
    """Simulates what is wanted of every workload; one decoding of its trace for all that is new."""
    rows: list[Row] = []
    for program in context.programs:
        rows += _of_workload(context, program)
    return rows


def _of_workload(context: StudyContext, program: Program) -> list[Row]:
    trace = context.trace(program)
    cached = ResultCache(context.folder, trace)
    machine = machine_for(trace)
    settings = wanted(program.name, context.quick)
    new = [setting for setting in settings if cached.get(machine.question(setting)) is None]
    if new:
        with context.watch(f"simulating {program.name}, {len(new)} configurations") as step:
            points = [machine.point(setting) for setting in new]
            found = simulate_bus(trace, points=points, restart=RESTART, progress=step)
        for setting, row in zip(new, found.flat_rows(), strict=True):
            cached.put(machine.question(setting), _of_result(row))
        cached.save()
    _note(context, settings, machine)
    said = {"workload": program.name, "machine": machine.name, "stands_for": machine.stands_for}
    return [
        {**said, **setting.point(), **cached.get(machine.question(setting))} for setting in settings
    ]


def _of_result(row: Row) -> Row:
    """A row without what the setting says already, and where the trace was."""
    said = {*_OF_SETTING, "trace", "machine", "order"}
    return {name: value for name, value in row.items() if name not in said}


def _note(context: StudyContext, settings: Sequence[Setting], machine: Machine) -> None:
    """What was simulated, for the provenance."""
    record: dict[str, Any] = {
        "machines": {machine.name: [machine.name]},
        "noun": "protocols",
        "policies": unique(setting.protocol for setting in settings),
        "block_sizes": sorted({setting.block_size for setting in settings}),
        "realign": None,
        "configurations": len(settings),
        "seed": 1,
    }
    if record not in context.simulations:
        context.simulations.append(record)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else int(value)

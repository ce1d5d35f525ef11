"""The simulations: run once for all figures, cached beside the traces, looked up by setting."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.engines.simulation import simulate
from homenode.options.specs import unique
from homenode.trace import Trace
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.draws import FIRST_SEED, question_with
from homenode_studies.studies.foglia.matrix import EXTENDED, PROTOCOLS, Setting, wanted
from homenode_studies.studies.programs import Program
from homenode_studies.studies.settings import digest, without
from homenode_studies.studies.tables import Evidence, Missing, Row

_OF_SETTING = tuple(Setting.__annotations__)
RESTART = True
"""Section 4: applications run "in a continuous and cyclical way", for a fixed amount of work."""
_DATA_ONLY = Path(__file__).with_name("data-references.toml")


@dataclass(frozen=True)
class Machine:
    """The machine for a trace.

    Attributes:
        name: its name in results.
        spec: its notation for the engine.
        stands_for: references of the paper's traces per reference of this trace.
        clean_from_memory: whether memory supplies clean blocks under the paper's protocols, as in
            the machines of its MESI; otherwise any cache that has one does.
        scale: the paper's references, blocks and bytes of cache for each one here.
    """

    name: str
    spec: str
    stands_for: int
    clean_from_memory: bool = True
    scale: int = 1

    def question(self, setting: Setting, seed: int = FIRST_SEED) -> dict[str, Any]:
        """The options of a simulation, independent of the location of the machine's file."""
        asked = self.point(setting) | {"machine": self.name, "restart": RESTART}
        if setting.scheduler == "random":
            asked |= question_with(seed)
        if self.spec != self.name:
            asked["digest"] = digest(Path(self.spec))
        return asked

    def point(self, setting: Setting) -> dict[str, Any]:
        """A point for the engine."""
        chosen = setting.changed(cache_size=setting.cache_size // self.scale)
        if self.clean_from_memory:
            chosen = chosen.changed(protocol=from_memory(setting.protocol))
        return {"machine": self.spec, **chosen.fields()}


def from_memory(protocol: str) -> str:
    """The variant of one of the paper's protocols in which memory supplies clean blocks.

    >>> from_memory("pscr:private_kernel=yes"), from_memory("moesi")
    ('pscr-memory:private_kernel=yes', 'moesi')
    """
    name, separator, parameters = protocol.partition(":")
    return f"{name}-memory{separator}{parameters}" if name in PROTOCOLS else protocol


PAPERS = Machine("bus-smp", "bus-smp", 1)
"""The paper's."""


def machine_for(trace: Trace) -> Machine:
    """``bus-smp``, or, if no fetches were recorded, a machine that compensates for them.

    Three quarters of the references of the paper's workloads are fetches (table 3). A data
    reference then takes the time of four references, a turn has fewer of them, and rates are for
    four times as many references.
    """
    if trace.info["fetches"]:
        return PAPERS
    return Machine(_DATA_ONLY.stem, str(_DATA_ONLY), 4)


class Runs:
    """Simulated points: one row per workload and setting."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._at = {(row["workload"], Setting.of(row)): row for row in self.rows}

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
    """The same simulations with PSCR's extension to the kernel's pages in place of PSCR."""
    kept = (row for row in rows if row["protocol"] != "pscr")
    return [row | {"protocol": "pscr"} if row["protocol"] == EXTENDED else row for row in kept]


def ours(evidence: Evidence) -> Runs:
    """The simulations among the evidence.

    Raises:
        Missing: when there are none.
    """
    return Runs(evidence.rows("points"))


def simulated(
    context: StudyContext, machine_of: Callable[[Trace], Machine] = machine_for
) -> list[Row]:
    """Simulates the settings of every workload; each trace is decoded once for all new settings."""
    rows: list[Row] = []
    for program in context.programs:
        rows += _of_workload(context, program, machine_of(context.trace(program)))
    return rows


def _of_workload(context: StudyContext, program: Program, machine: Machine) -> list[Row]:
    settings = wanted(program.name, context.quick)
    found = on_machine(context, program, machine, settings, context.seed)
    context.note_points(
        "protocols",
        [machine.name],
        unique(setting.protocol for setting in settings),
        (setting.block_size for setting in settings),
        len(settings),
    )
    said = {"workload": program.name, "machine": machine.name}
    return [{**said, **setting.fields(), **row} for setting, row in found.items()]


def on_machine(
    context: StudyContext,
    program: Program,
    machine: Machine,
    settings: Sequence[Setting],
    seed: int = FIRST_SEED,
) -> dict[Setting, Row]:
    """Results of settings on a machine; those that are not stored are simulated together."""
    trace = context.trace(program)
    cached = ResultCache(context.folder, trace)
    new = [s for s in settings if cached.get(machine.question(s, seed)) is None]
    if new:
        of_seed = "" if seed == FIRST_SEED else f" with seed {seed}"
        title = f"simulating {program.name}{of_seed}, {len(new)} configurations"
        with context.watch(title) as step:
            points = [machine.point(setting) for setting in new]
            found = simulate(trace, points=points, restart=RESTART, seed=seed, progress=step)
        for setting, row in zip(new, found.flat_rows(), strict=True):
            cached.put(machine.question(setting, seed), without(row, *_OF_SETTING, "machine"))
        cached.save()
    said = {"stands_for": machine.stands_for}
    return {s: said | cached.get(machine.question(s, seed)) for s in settings}

"""The simulations: run once for all figures, cached beside the traces, looked up by setting."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from homenode.engines.simulation import simulate
from homenode.errors import ConfigError
from homenode.options.specs import unique
from homenode.results.result import Result
from homenode.trace import Trace
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.draws import FIRST_SEED, home_with, question_with
from homenode_studies.studies.marchetti import HARDWARE, PAPER, PROTOCOLS
from homenode_studies.studies.marchetti.matrix import (
    MESH,
    NONE,
    WITHOUT,
    Batch,
    Setting,
    batches,
    of_experiments,
    of_version,
    wanted,
)
from homenode_studies.studies.programs import Program, listed, versions_of
from homenode_studies.studies.settings import digest, without
from homenode_studies.studies.tables import Evidence, Missing, Row
from homenode_studies.workloads import CHECK

_OF_SETTING = tuple(Setting().fields())


class Runs:
    """Simulated points: one row per program and setting."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._at = {(row["program"], Setting.of(row)): row for row in self.rows}

    def programs(self) -> list[str]:
        """The programs that were simulated, in order."""
        return unique(row["program"] for row in self.rows)

    def protocols(self) -> list[str]:
        """The protocols that were simulated."""
        return unique(row["protocol"] for row in self.rows)

    def need(self, *protocols: str) -> None:
        """Checks that these protocols were simulated.

        Raises:
            Missing: when one was not.
        """
        absent = [name for name in protocols if name not in self.protocols()]
        if absent:
            raise Missing(f"needs the protocol {', '.join(absent)}, which was not simulated")

    def at(self, program: str, setting: Setting) -> Row:
        """One point.

        Raises:
            Missing: when it was not simulated.
        """
        self.need(setting.protocol)
        try:
            return self._at[program, setting]
        except KeyError:
            if program not in self.programs():
                raise Missing(f"needs {program}, which this run does not have") from None
            raise Missing(f"{setting} was not simulated") from None

    def has(self, program: str, setting: Setting) -> bool:
        """Whether a point was simulated."""
        return (program, setting) in self._at


def ours(evidence: Evidence) -> Runs:
    """The simulations among the evidence.

    Raises:
        Missing: when there are none.
    """
    return Runs(evidence.rows("points"))


def gaps() -> dict[str, int]:
    """The instructions before each reference that the recording of each program leaves out."""
    return {row["name"]: row["gap"] for row in listed(PAPER)}


def accepted() -> tuple[str, ...]:
    """The paper's protocols that the engine simulates."""
    trace = Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    found = []
    for protocol in PROTOCOLS:
        try:
            simulate(trace, "dash-mesh", protocols=protocol)
        except ConfigError:
            continue
        found.append(protocol)
    return tuple(found)


def simulated(context: StudyContext, protocols: tuple[str, ...]) -> list[Row]:
    """Simulates the settings of every program."""
    rows: list[Row] = []
    for program in context.programs:
        settings = wanted(program.name, protocols, quick=context.quick)
        rows += _of_program(context, program, settings, gaps()[program.name])
    return rows


def beside(context: StudyContext, protocols: tuple[str, ...]) -> list[Row]:
    """Simulates what the paper does not measure, of every program."""
    rows: list[Row] = []
    for program in context.programs:
        rows += _of_program(context, program, of_experiments(protocols), gaps()[program.name])
    return rows


def versions(context: StudyContext, protocols: tuple[str, ...]) -> list[Row]:
    """Simulates other versions of the programs, which are evidence of no claim."""
    rows: list[Row] = []
    for program in context.programs:
        for version in versions_of(PAPER, program, quick=context.quick):
            rows += _of_program(context, version, of_version(protocols), gaps()[program.name])
    return rows


def _of_program(
    context: StudyContext, program: Program, settings: list[Setting], gap: int
) -> list[Row]:
    trace = context.trace(program)
    cached = ResultCache(context.folder, trace)
    seed = context.seed
    questions = {s: _question(s, gap) | question_with(seed) for s in settings}
    new = [setting for setting in settings if cached.get(questions[setting]) is None]
    if new:
        with context.watch(f"simulating {program.name}, {len(new)} configurations") as step:
            parts = batches(new)
            for done, batch in enumerate(parts):
                step(done, len(parts))
                _keep(context, (program, trace, cached), batch, questions)
            step(len(parts), len(parts))
    context.note_points(
        "homes",
        unique(setting.machine for setting in settings),
        unique(setting.home for setting in settings),
        (setting.block_size for setting in settings),
        len(settings),
    )
    said = {"program": program.name, "gap": gap}
    found = {setting: cached.get(questions[setting]) for setting in settings}
    return [{**said, **s.fields(), **row} for s, row in found.items() if row is not None]


def _keep(
    context: StudyContext,
    of: tuple[Program, Trace, ResultCache],
    batch: Batch,
    questions: Mapping[Setting, dict[str, Any]],
) -> None:
    """Simulates a batch and stores the results.

    Raises:
        ConfigError: when it cannot be simulated; but a policy of replication is then left out, with
        a note, as figure 5 and its claims can do without it.
    """
    program, trace, cached = of
    try:
        gap = questions[batch.settings()[0]]["gap"]
        found = asked(trace, batch, gap, seed=context.seed)
    except ConfigError as problem:
        if batch.replication == NONE:
            raise
        said = f"{program.name} with {batch.replication} was not simulated: {problem}"
        context.notes = unique([*context.notes, said])
        return
    for setting, row in zip(batch.settings(), found.flat_rows(), strict=True):
        cached.put(questions[setting], without(row, *_OF_SETTING, "seed"))
    context.notes = unique([*context.notes, *found.provenance.get("notes", [])])
    cached.save()


def asked(
    trace: Trace,
    batch: Batch,
    gap: int,
    *,
    seed: int = FIRST_SEED,
    uses: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> Result:
    """Simulates a batch from initialisation to the check; with `uses`, collects pages' users."""
    base = batch.base
    return simulate(
        trace,
        protocols=base.protocol,
        machines=machine_file(base.machine),
        homes=[home_with(home, seed) for home in batch.homes],
        seed=seed,
        replications=batch.replication,
        cache_sizes=base.cache_size,
        associativities=base.associativity,
        block_sizes=batch.blocks,
        order="clock",
        network_contention=base.contention,
        phase_change=base.phase_change,
        gap=gap if base.counted else 0,
        measure_from="init-done",
        measure_until=CHECK,
        sync="exclude",
        uses=uses,
        progress=progress,
    )


def driven() -> tuple[str, str, dict[str, Any]]:
    """Machine, protocol and options of programs that the machine drives: the paper's setting."""
    options = {"homes": WITHOUT, "measure_from": "init-done", "sync": "exclude"}
    return MESH, HARDWARE, options


def machine_file(name: str) -> str:
    """A machine in the engine's notation: its name, or the file of that name in this folder."""
    return name if name == MESH else str(Path(__file__).with_name(f"{name}.toml"))


def _question(setting: Setting, gap: int) -> dict[str, Any]:
    """The options of a simulation, independent of the location of the machine's file."""
    asked: dict[str, Any] = {"gap": gap, "until": CHECK, **setting.fields()}
    if setting.machine != MESH:
        asked["digest"] = digest(Path(machine_file(setting.machine)))
    return asked

"""The simulations: run once for all figures, cached beside the traces."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from homenode.engines import simulation
from homenode.errors import ConfigError
from homenode.options.specs import unique
from homenode.results.result import Result
from homenode.trace import Trace
from homenode_studies.studies.cache import ResultCache
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.draws import FIRST_SEED, home_with, question_with
from homenode_studies.studies.programs import Program, listed, versions_of
from homenode_studies.studies.settings import digest, without
from homenode_studies.studies.tables import Row
from homenode_studies.studies.talbot import ALITE, PAPER, PROTOCOL
from homenode_studies.studies.talbot.matrix import (
    AS_RECORDED,
    BASIC,
    FIGURES,
    NONE,
    Batch,
    Setting,
    wanted,
)
from homenode_studies.studies.talbot.versions import OF
from homenode_studies.workloads import CHECK

Simulate = Callable[..., Result]

_OF_SETTING = tuple(Setting().fields())


def about(name: str) -> Row:
    """The entry of a program in the list of programs."""
    return next(row for row in listed(PAPER) if row["name"] == name)


def proxies(setting: Setting, data: Sequence[str]) -> str:
    """Proxies in the engine's notation; `data` are those marked for basic ones, empty for all.

    >>> proxies(Setting(proxies="basic", dial="allocate=no"), ["a", "b"])
    'basic:data=a+b,allocate=no'
    >>> proxies(Setting(proxies="basic"), []), proxies(Setting(), ["a"])
    ('basic', 'none')
    """
    marked = f"data={'+'.join(data)}" if data and setting.proxies == BASIC else ""
    dial = setting.dial if setting.proxies != NONE else ""
    dials = ",".join(word for word in (marked, dial) if word)
    return f"{setting.proxies}:{dials}" if dials else setting.proxies


def driven() -> tuple[str, str, dict[str, Any]]:
    """Machine, protocol and options of programs that the machine drives, without proxies."""
    options = {"homes": Setting().home, "measure_from": "init-done", "sync": "exclude"}
    return ALITE, PROTOCOL, options


def simulated(
    context: StudyContext,
    simulate: Simulate = simulation.simulate,
    *,
    beyond_paper: bool = True,
) -> list[Row]:
    """Simulates the settings of every program: one row per program and setting."""
    quick = context.quick or not beyond_paper
    rows: list[Row] = []
    for program in context.programs:
        known = about(program.name)
        nodes = known.get("nodes", [])
        for batch in wanted(program.name, nodes, quick=quick):
            run = _with_nodes(program, known, batch.base.nodes)
            rows += _of_batch(context, run, batch, simulate)
    return rows


def versions(context: StudyContext, simulate: Simulate = simulation.simulate) -> list[Row]:
    """Simulates the figures with other versions of the programs."""
    rows: list[Row] = []
    for program in context.programs:
        for version in versions_of(PAPER, program, quick=context.quick):
            for batch in FIGURES:
                found = _of_batch(context, version, batch, simulate)
                rows += [{**row, "program": version.name, OF: program.name} for row in found]
    return rows


def _with_nodes(program: Program, known: Row, nodes: int) -> Program:
    """The program in the size and with the threads of a run beyond the paper."""
    if nodes == AS_RECORDED:
        return program
    arguments = tuple(known.get("beyond", program.arguments))
    return Program(
        f"{program.name} on {nodes} nodes",
        program.workload,
        program.style,
        arguments,
        nodes,
        program.quantum,
    )


def _of_batch(
    context: StudyContext, program: Program, batch: Batch, simulate: Simulate
) -> list[Row]:
    trace = context.trace(program)
    cached = ResultCache(context.folder, trace)
    name = program.name.partition(" on ")[0]
    known, settings = about(name), batch.settings()
    of_seed = question_with(context.seed)
    questions = {s: _question(s, known["gap"], known.get("data", [])) | of_seed for s in settings}
    new = _lacking(batch, lambda setting: cached.get(questions[setting]) is None)
    if new.lengths:
        among = new.settings()
        try:
            with context.watch(f"simulating {program.name}, {len(among)} at a time") as step:
                found = asked(trace, new, known, simulate, step, context.seed)
        except ConfigError as problem:
            _leave_out(context, program, batch, problem)
            return []
        for setting, row in zip(among, _matched(found, among, context.seed), strict=True):
            cached.put(questions[setting], without(row, *_OF_SETTING, "seed"))
        context.notes = unique([*context.notes, *found.provenance.get("notes", [])])
        cached.save()
    context.note_points("homes", [batch.base.machine], batch.homes, [64], len(settings))
    said = {"program": name, "gap": known["gap"]}
    return [{**said, **s.fields(), **cached.get(questions[s])} for s in settings]


def _lacking(batch: Batch, lacks: Callable[[Setting], bool]) -> Batch:
    """The part of a batch with lengths of queues for which some setting is not known yet."""
    of_length = {length: replace(batch, lengths=(length,)).settings() for length in batch.lengths}
    return replace(
        batch, lengths=tuple(n for n, these in of_length.items() if any(map(lacks, these)))
    )


def _leave_out(context: StudyContext, program: Program, batch: Batch, problem: ConfigError) -> None:
    """Notes that the engine cannot simulate something beyond the paper.

    Raises:
        ConfigError: when it is not beyond the paper.
    """
    if batch.base.nodes == AS_RECORDED:
        raise problem
    what = batch.base.dial or batch.base.machine
    context.notes = unique([*context.notes, f"{program.name}, {what}: {problem}"])


def asked(
    trace: Trace,
    batch: Batch,
    known: Row,
    simulate: Simulate = simulation.simulate,
    progress: Callable[[int, int | None], None] | None = None,
    seed: int = FIRST_SEED,
) -> Result:
    """Simulates a batch from initialisation to the check."""
    data = known.get("data", [])
    return simulate(
        trace,
        machine_file(batch.base.machine),
        protocols=PROTOCOL,
        homes=[home_with(home, seed) for home in batch.homes],
        seed=seed,
        proxies=[proxies(batch.base.changed(proxies=kind), data) for kind in batch.kinds],
        buffers=batch.lengths,
        order="clock",
        gap=known["gap"],
        measure_from="init-done",
        measure_until=CHECK,
        sync="exclude",
        progress=progress,
    )


def _matched(found: Result, settings: Sequence[Setting], seed: int) -> list[Row]:
    """The rows in the order of the settings: each has one home, kind of proxies and length."""
    at = {(row["home"], _kind(row), str(row["buffers"])): row for row in found.flat_rows()}
    return [at[home_with(s.home, seed), s.proxies, s.buffers] for s in settings]


def _kind(row: Row) -> str:
    return str(row["proxies"]).partition(":")[0]


def machine_file(name: str) -> str:
    """A machine in the engine's notation: its name, or the file of that name in this folder."""
    return name if name == ALITE else str(Path(__file__).with_name(f"{name}.toml"))


def _question(setting: Setting, gap: int, data: Sequence[str]) -> dict[str, Any]:
    """The options of a simulation, independent of the location of the machine's file."""
    asked: dict[str, Any] = {"gap": gap, "until": CHECK, **setting.fields()}
    asked["proxies"] = proxies(setting, data)
    asked |= {"dial": None, "nodes": None}  # determined by the proxies and the trace
    if setting.machine != ALITE:
        asked["digest"] = digest(Path(machine_file(setting.machine)))
    return asked

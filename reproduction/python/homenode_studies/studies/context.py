"""The context of a study's run: its traces, its simulations, and a record of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from homenode import _core
from homenode.engines.simulation import simulate
from homenode.options.specs import unique
from homenode.options.typed import SimulateOptions
from homenode.results.result import Result
from homenode.trace import Trace
from homenode_studies.studies import mixes, programs
from homenode_studies.studies.cache import kept
from homenode_studies.studies.draws import FIRST_SEED
from homenode_studies.studies.forms import AS_RECORDED, TraceForm, formed
from homenode_studies.studies.programs import Program, Publication
from homenode_studies.studies.tables import Row

Step = Callable[[int, int | None], None]
Watch = Callable[[str], AbstractContextManager[Step]]


@dataclass(frozen=True)
class TunedPolicy:
    """A policy whose parameters depend on the program.

    Attributes:
        name: its name in results.
        spec: its notation for the engine.
    """

    name: str
    spec: Callable[[Program], str]


@dataclass(frozen=True)
class Matrix:
    """A matrix to simulate: machines by their names in results, policies and block sizes."""

    machines: Mapping[str, str] | Sequence[str]
    policies: Sequence[str | TunedPolicy]
    block_sizes: Sequence[int]
    force: bool = False

    def policies_of(self, program: Program) -> dict[str, str]:
        """The name in results of each policy, by its notation for the engine."""
        return {
            policy if isinstance(policy, str) else policy.spec(program): policy_name(policy)
            for policy in self.policies
        }

    def names(self) -> dict[str, list[str]]:
        """The names in results of each machine, one or several, by its name in the engine.

        >>> Matrix({"a": "prices:r=15,R=59", "b": "prices:r=15,R=59"}, [], []).names()
        {'prices:r=15,R=59': ['a', 'b']}
        """
        if not isinstance(self.machines, dict):
            return {name: [name] for name in self.machines}
        found: dict[str, list[str]] = {}
        for name, spec in self.machines.items():
            found.setdefault(spec, []).append(name)
        return found


@contextmanager
def no_progress(_title: str) -> Iterator[Step]:
    """Shows no progress."""
    yield lambda _done, _total: None


@dataclass
class StudyContext:
    """The traces and simulations of one run of a study.

    Attributes:
        publication: the publication whose programs are run.
        folder: the folder of the traces.
        quick: whether to use small sizes.
        programs: the programs that may be run.
        watch: opens a progress bar with a title.
        mixes: the folder of the mixes; by default the small ones of this package.
        form: the counting and interleaving of references.
        seed: of recordings, homes and schedulers; tables and figures have that of the first run.
        traces: provenance of every trace used, by program.
        simulations: every matrix simulated.
        notes: the notes of the engines.
        tuned: by name of a tuned policy and program, its notation for the engine.
        made: traces that the study makes instead of its programs', by program; each is made once.
    """

    publication: Publication
    folder: Path
    quick: bool
    programs: Sequence[Program]
    watch: Watch = no_progress
    mixes: Path | None = None
    form: TraceForm = AS_RECORDED
    seed: int = FIRST_SEED
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    simulations: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tuned: dict[str, dict[str, str]] = field(default_factory=dict)
    made: dict[str, Trace] = field(default_factory=dict)
    _opened: dict[str, Trace] = field(default_factory=dict)

    def with_seed(self, seed: int) -> "StudyContext":
        """The same with another seed, and a record of its own; mixes begin at another place."""
        mixed = any(program.mix for program in self.programs)
        form = replace(self.form, rotated=seed) if mixed else self.form
        chosen = [replace(program, seed=seed - FIRST_SEED) for program in self.programs]
        of = (self.publication, self.folder, self.quick, chosen, self.watch, self.mixes, form)
        return StudyContext(*of, seed)

    def trace(self, program: Program) -> Trace:
        """The trace of a program, recorded if necessary."""
        if program.name not in self._opened:
            made = self._mix(program) if program.mix else self.recorded(program)
            if self.form.steps():
                # Experiments also perturb, select and measure the trace, always in this form: so
                # the trace itself is converted, not only its simulation.
                with self.watch(f"words and turns of {program.name}") as step:
                    made = formed(made, self.form, self.folder, step)
            self._opened[program.name] = made
            self.traces[program.name] = {
                "program": program.name,
                "workload": program.workload,
                "style": program.style,
                "arguments": " ".join(program.words),
                "quantum": program.quantum or None,
                "private": program.private,
                "references": made.references,
                "checksum": made.info["checksum"],
            }
        return self._opened[program.name]

    def recorded(self, program: Program) -> Trace:
        """The recording of a program, without conversion to the form."""
        with self.watch(f"recording {program.name}") as step:
            return programs.trace_of(program, self.folder, step)

    def _mix(self, program: Program) -> Trace:
        return Trace.open(mixes.find(program.mix, self.mixes, quick=self.quick))

    def simulate(self, matrix: Matrix, only: Sequence[str] | None = None) -> list[Row]:
        """Simulates a matrix on every program, or on some; one row per point."""
        rows: list[Row] = []
        for program in self.programs:
            if only is None or program.name in only:
                rows += self.replay(matrix, program, self.trace(program))
        return rows

    def replay(self, matrix: Matrix, program: Program, trace: Trace) -> list[Row]:
        """Simulates a matrix on a program's trace, or on one made from it."""
        names, policies = matrix.names(), matrix.policies_of(program)
        result = self.outcomes(matrix, program, trace)
        return [
            point(program, row, (name, policies[row["policy"]]))
            for row in result
            for name in names[row["machine"]]
        ]

    def outcomes(
        self, matrix: Matrix, program: Program, trace: Trace, **options: Unpack[SimulateOptions]
    ) -> Result:
        """Simulates a matrix on a trace; returns the engine's outcomes."""
        options.setdefault("force", matrix.force)
        if program.private is not None:
            options.setdefault("private", program.private)
        with self.watch(f"simulating {program.name}") as step:
            found = kept(
                self.folder,
                simulate,
                trace,
                list(matrix.names()),
                list(matrix.policies_of(program)),
                list(matrix.block_sizes),
                progress=step,
                **options,
            )
        result = Result(found.rows, provenance=found.provenance)
        self.note(matrix, result.provenance, options.get("realign"))
        for spec, name in matrix.policies_of(program).items():
            if spec != name:
                self.tuned.setdefault(name, {})[program.name] = spec
        return result

    def note(self, matrix: Matrix, provenance: dict[str, Any], realign: int | None = None) -> None:
        """Records a simulation, with the notes of the engine."""
        record = {
            "machines": matrix.names(),
            "policies": [policy_name(policy) for policy in matrix.policies],
            "block_sizes": list(matrix.block_sizes),
            "realign": realign,
        }
        self._record(record)
        self.notes = unique([*self.notes, *provenance.get("notes", [])])

    def note_points(
        self,
        noun: str,
        machines: Iterable[str],
        policies: Iterable[str],
        block_sizes: Iterable[int],
        configurations: int,
    ) -> None:
        """Records a simulation of points; `noun` says what its policies are."""
        self._record(
            {
                "machines": {name: [name] for name in machines},
                "noun": noun,
                "policies": list(policies),
                "block_sizes": sorted({*block_sizes}),
                "realign": None,
                "configurations": configurations,
                "seed": 1,
            }
        )

    def _record(self, simulation: dict[str, Any]) -> None:
        if simulation not in self.simulations:
            self.simulations.append(simulation)

    def provenance(self) -> dict[str, Any]:
        """Everything that the results depend on."""
        return {
            "version": _core.version(),
            "quick": self.quick,
            **self.form.provenance(),
            "quantum": unique(t["quantum"] for t in self.traces.values() if t["quantum"]),
            "traces": list(self.traces.values()),
            "publication": self.publication.noun,
            "absent": programs.absent(self.publication),
            "simulations": self.simulations,
            "tuned": self.tuned,
            "notes": self.notes,
        }


def policy_name(policy: str | TunedPolicy) -> str:
    """The name of a policy in results."""
    return policy if isinstance(policy, str) else policy.name


def point(program: Program, outcome: dict[str, Any], names: tuple[str, str]) -> Row:
    """One simulated point as a flat row, under these names of its machine and policy.

    ``moves`` are all moves of blocks, ``cost_moves`` their cost.
    """
    counts, cost = outcome["counts"], outcome["cost"]
    row: Row = {
        "program": program.name,
        "style": program.style,
        "machine": names[0],
        "policy": names[1],
        "block_size": outcome["block_size"],
        "accesses": outcome["accesses"],
        "mcpr": outcome["mcpr"],
    }
    for where in ("local", "remote", "global"):
        row[where] = counts[f"{where}_reads"] + counts[f"{where}_writes"]
        row[f"cost_{where}"] = cost[where]
    row["moves"] = counts["remote_moves"] + counts["global_moves"]
    row["cost_moves"] = (cost["remote_moves"] or 0) + (cost["global_moves"] or 0)
    row["invalidations"] = counts["invalidations"]
    return row

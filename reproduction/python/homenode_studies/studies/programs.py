"""The programs of a publication that homenode has, recorded once and kept.

Each publication has a list of its own, ``programs.toml`` in its folder.

A trace is found by the program's source, its arguments, the kind of hooks, the options of the
recording and homenode's version; if any of these changes, it is recorded again.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from homenode import ConfigError
from homenode.capture import assembly
from homenode.capture.arguments import UsageError
from homenode.trace import Trace
from homenode_studies import workloads

Progress = Callable[[int, int | None], None] | None

THREADS = 8
CALIBRATION = "calibration"
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
QUANTUM = 10
"""References a thread makes before the next one's turn: the ACE's tracer ran all processors at the
same pace (section 2.3.1), so turns are short. Recording in turns of ten takes a tenth of the time
of turns of one."""


@dataclass(frozen=True)
class Publication:
    """A publication whose experiments are repeated.

    Attributes:
        name: folder of its tables in `homenode_studies.studies.published`.
        noun: its name on pages: ``thesis`` or ``paper``.
        programs: the list of its programs, a TOML file.
        no_private: styles whose programs have no private memory in the publication: private
            references in our traces of these count like all others.
    """

    name: str
    noun: str
    programs: Path
    no_private: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Program:
    """A program of a publication, and our workload for it.

    Attributes:
        name: as in the publication.
        workload: as in ``homenode list workloads``.
        style: how it was written; the thesis's are ``epex``, ``presto``, ``splash`` and
            ``c-threads`` (section 2.1).
        arguments: the arguments of a run, including its size.
        threads: processors.
        quantum: references a thread makes before the next one's turn.
        mix: the name of the mix, if it is one instead of a program to record.
        private: how engines treat references to its private memory, ``local`` or ``shared``; None
            for their default.
        seed: of its recording: 0 for turns of the same length, others for random lengths around it.
    """

    name: str
    workload: str
    style: str
    arguments: tuple[str, ...]
    threads: int
    quantum: int = QUANTUM
    mix: str = ""
    private: Literal["local", "shared"] | None = None
    seed: int = 0

    @property
    def words(self) -> list[str]:
        """The arguments of a run, or the name of a mix."""
        if self.mix:
            return [self.mix]
        return ["-p", str(self.threads), *self.arguments]


def listed(publication: Publication, calibration: bool = False) -> list[dict[str, Any]]:
    """The programs of a publication, from its ``programs.toml``.

    Args:
        publication: the publication.
        calibration: also those of the thesis's section 3.2.2, of which it has no traces.
    """
    text = publication.programs.read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["program"]
    return [row for row in found if calibration or row["style"] != CALIBRATION]


def available(publication: Publication, quick: bool, calibration: bool = False) -> list[Program]:
    """The programs of a publication that homenode has, in the publication's order.

    Args:
        publication: the publication.
        quick: small sizes instead of the publication's.
        calibration: also those of the thesis's section 3.2.2.
    """
    known = {entry.name: entry for entry in workloads.TABLE}
    found = []
    for row in listed(publication, calibration):
        if "mix" in row:
            found.append(Program(row["name"], "mix", row["style"], (), 0, 0, row["mix"]))
            continue
        name = next((name for name in row["workloads"] if name in known), None)
        if name is not None:
            found.append(_sized(publication, row, known[name], quick))
    return found


def _sized(
    publication: Publication, row: dict[str, Any], entry: workloads.Workload, quick: bool
) -> Program:
    threads, arguments = row.get("threads", THREADS), row.get("arguments", entry.arguments)
    quantum = QUANTUM
    if "size" in row:
        size = entry.size(row["size"])
        threads, arguments, quantum = size.threads, size.arguments, size.quantum
    if quick:
        threads, arguments = row.get("quick_threads", threads), row.get("quick", entry.quick)
    style = row["style"]
    return Program(
        row["name"],
        entry.name,
        style,
        tuple(arguments),
        threads,
        quantum,
        private=_private(publication, style),
    )


def _private(publication: Publication, style: str) -> Literal["local", "shared"] | None:
    if not publication.no_private:
        return None
    return "shared" if style in publication.no_private else "local"


def versions_of(publication: Publication, program: Program, *, quick: bool) -> list[Program]:
    """Other versions of a program, in what the publication leaves open: evidence of no claim."""
    row = next(row for row in listed(publication) if row["name"] == program.name)
    size = "quick" if quick else "arguments"
    return [
        replace(program, name=version["name"], arguments=tuple(version[size]))
        for version in row.get("versions", [])
    ]


def absent(publication: Publication) -> list[str]:
    """The traced programs of a publication that homenode does not have."""
    known = {entry.name for entry in workloads.TABLE}
    recorded = [row for row in listed(publication) if "mix" not in row]
    return [row["name"] for row in recorded if known.isdisjoint(row["workloads"])]


def trace_of(program: Program, folder: Path, progress: Progress = None) -> Trace:
    """The trace of a program: the one in `folder`, or a new recording.

    Raises:
        ConfigError: when the compiler or the program fails.
        TraceError: when the trace cannot be written.
    """
    path = folder / f"{program.workload}-{_key(program)}.hnt"
    if path.exists():
        return Trace.open(path)
    folder.mkdir(parents=True, exist_ok=True)
    binary = workloads.build(program.workload, folder / program.workload, "homenode")
    # As typed by a user, so that the recording does not depend on the location of the folder.
    start = str(binary) if binary.is_absolute() else f"./{binary}"
    # A killed study would leave an incomplete trace: a trace gets its name when it is complete.
    unfinished = path.with_name(f"recording-{path.name}")
    command = [start, *program.words]
    trace = Trace.record(
        command, unfinished, quantum=program.quantum, seed=program.seed, progress=progress
    )
    code = trace.metadata.get("exit_code")
    if code != 0:
        raise ConfigError(f"{program.workload} ended with exit code {code}: see {unfinished}")
    return Trace.open(unfinished.replace(path))


def _key(program: Program) -> str:
    entry = workloads.find(program.workload)
    digest = hashlib.sha256()
    seed = [f"seed {program.seed}"] if program.seed else []
    for part in (_version(), _hooks(), str(program.quantum), *program.words, *seed):
        digest.update(part.encode() + b"\0")
    for text in _sources(entry.path, set()):
        digest.update(text)
    return digest.hexdigest()[:12]


def _sources(path: Path, seen: set[Path]) -> list[bytes]:
    """The text of a source and of the workloads' headers that it includes, each once."""
    if path in seen or not path.exists():
        return []
    seen.add(path)
    text = path.read_bytes()
    found = [text]
    for name in _INCLUDE.findall(text):
        found += _sources(workloads.source_file(name.decode()), seen)
    return found


def _version() -> str:
    from homenode import _core

    return str(_core.version())


def _hooks() -> str:
    """The kind of hooks that a program gets: each sees other references."""
    try:
        return "assembly" if assembly.wanted() else "compiler"
    except UsageError as error:
        raise ConfigError(str(error)) from error

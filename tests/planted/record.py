"""The planted programs: their table, corpus.toml, and how their twins are built and recorded.

As a program it records all programs, or those named, into a folder:

    python -m planted.record FOLDER [wordcount.c ...]       (in tests/)
"""

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.capture import compilers
from support.recorder import recorder

HERE = Path(__file__).parent
TWINS = ("planted", "fixed")
KINDS = ("align", "pad", "group", "split", "replicate", "separate-lock", "place", "none")
# The plain compiler of each language, and its standard.
_COMPILERS = {"c": ("gcc", "-std=gnu11"), "c++": ("g++", "-std=c++17")}
_TIMEOUT_S = 600


@dataclass(frozen=True)
class Program:
    """One program of the corpus; corpus.toml says what the fields mean."""

    file: str
    language: str
    threads: int
    planted: str
    kind: str
    object: str = ""
    marker: str = ""
    storage: str = ""
    also: tuple[str, ...] = ()
    granularity: str = "line"
    unit: str = "word"
    contended: bool = False
    twin: bool = True
    why: str = ""
    cure: str = ""
    found: str = "advice"
    found_why: str = ""
    said: str = ""
    apart: str = ""
    quantum: int = 100
    args: tuple[str, ...] = ()

    @property
    def source(self) -> Path:
        return HERE / "programs" / self.file

    @property
    def openmp(self) -> bool:
        """Whether it must be compiled for OpenMP."""
        return "#pragma omp" in self.source.read_text()

    def marked_lines(self, marker: str) -> list[int]:
        """The numbers of the lines with a marker's comment."""
        lines = self.source.read_text().splitlines()
        return [n for n, line in enumerate(lines, 1) if f"mark: {marker}" in line]


@dataclass(frozen=True)
class Run:
    """A program's output and how it ended."""

    out: str
    code: int


def corpus() -> list[Program]:
    """All programs, in the order of the manifest."""
    tables = tomllib.loads((HERE / "corpus.toml").read_text())["program"]
    return [Program(**{k: _frozen(v) for k, v in table.items()}) for table in tables]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def compile_twin(program: Program, twin: str, folder: Path, *, native: bool = False) -> Path:
    """Compiles a twin with the wrapper or the plain compiler; returns the program."""
    plain, standard = _COMPILERS[program.language]
    target = folder / f"{program.source.stem}.{twin}{'.native' if native else ''}"
    flags = ["-O2", standard, "-pthread", *["-g"] * (not native)]
    flags += ["-fopenmp"] * program.openmp + ["-DFIXED"] * (twin == "fixed")
    words = [*flags, str(program.source), "-o", str(target), "-lm"]
    if native:
        _done([plain, "-Wall", "-Wextra", "-Werror", *words])
    elif code := compilers.compile(program.language, words):
        raise RuntimeError(f"compiling {program.file} ({twin}) with hooks ended with {code}")
    return target


def run_native(program: Program, executable: Path) -> Run:
    return _run([str(executable), *program.args])


def record(program: Program, executable: Path, trace: Path) -> tuple[Run, dict[str, Any]]:
    """Records a program; returns its run and the recorder's summary."""
    summary = trace.with_suffix(".summary")
    argv = [str(executable), *program.args]
    options = {"argv": argv, "output": str(trace), "quantum": program.quantum}
    run = _run(recorder(options, summary))
    if run.code != 0:
        raise RuntimeError(f"recording {program.file} ended with {run.code}: {run.out}")
    told = json.loads(summary.read_text())
    return Run(run.out, told["exit_code"]), told


def record_twin(program: Program, twin: str, folder: Path) -> Path:
    """Compiles and records a twin; returns the trace."""
    trace = folder / f"{program.source.stem}.{twin}.hnt"
    run, _ = record(program, compile_twin(program, twin, folder), trace)
    if run.code != 0:
        raise RuntimeError(f"{program.file} ({twin}) ended with {run.code}: {run.out}")
    return trace


def record_all(programs: list[Program], folder: Path) -> dict[tuple[str, str], Path]:
    """Records both twins of all programs, as many at a time as there are cores."""
    jobs = [(program, twin) for program in programs for twin in TWINS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        traces = list(pool.map(lambda job: record_twin(*job, folder), jobs))
    return {(p.file, twin): trace for (p, twin), trace in zip(jobs, traces, strict=True)}


def _run(line: list[str]) -> Run:
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    return Run(done.stdout + done.stderr, done.returncode)


def _done(line: list[str]) -> None:
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(line)} ended with {done.returncode}:\n{done.stderr}")


def main() -> None:
    """Records the programs that the command line names."""
    folder, *names = sys.argv[1:] or ["planted-traces"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    chosen = [p for p in corpus() if not names or p.file in names]
    for (file, twin), trace in record_all(chosen, Path(folder).resolve()).items():
        print(f"{file} {twin} {trace}")


if __name__ == "__main__":
    main()

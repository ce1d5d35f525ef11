"""Small programs whose references are known from their source, recorded and compared.

A program says in its first comments, one fact a line:

    // kind: bit-fields                      its row in the table of docs/capture.md
    // expect: page written=4096 read=1      bytes of an object that the program's own code moves
    // expect qemu clang: page written=4096 read=32     the same where these conditions hold
    // compile: gcc clang; O0 O2 O3-v3       the variants that matter
    // with: -pthread                        further flags of the compiler
    // why: ...                              why the numbers are right

An atomic read-modify-write counts as read and as written. An object is a static variable, or what
the program announces with `announce` of truth.h (blocks on the heap, local variables). Such memory
has other uses before and after: then only references between `count_from_here` and `count_to_here`
count. Conditions are compilers, levels and ways of recording: `hooks` of the compiler, hooks in its
`assembly`, emulation by `qemu`, and `machine` for the two that see the machine code. Of two lines
that hold the last one counts. What the library adds under emulation is that of glibc 2.36 in QEMU
7.2.

    python tests/capture/truth/corpus.py [--via WAY[,WAY]] [--jobs N] [NAME...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

import homenode as hn
from homenode import _core
from homenode.capture import compilers

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"

Language = Literal["c", "c++", "fortran"]
Family = Literal["gcc", "clang"]
Via = Literal["hooks", "assembly", "qemu"]
Verdict = Literal["right", "near", "wrong", "failed"]

_LANGUAGES: dict[str, Language] = {".c": "c", ".cpp": "c++", ".f90": "fortran"}
# The variable that chooses the wrapper's compiler, and the compiler of each family.
_DRIVERS: dict[tuple[Language, Family], tuple[str, str]] = {
    ("c", "gcc"): ("HOMENODE_CC", "gcc"),
    ("c", "clang"): ("HOMENODE_CC", "clang"),
    ("c++", "gcc"): ("HOMENODE_CXX", "g++"),
    ("c++", "clang"): ("HOMENODE_CXX", "clang++"),
    ("fortran", "gcc"): ("HOMENODE_FC", "gfortran"),
}
_LEVELS = {"O0": ["-O0"], "O2": ["-O2"], "O3-v3": ["-O3", "-march=x86-64-v3"]}
_STANDARDS: dict[Language, str] = {"c": "-std=gnu11", "c++": "-std=c++17", "fortran": "-std=gnu"}
_FACT = re.compile(r"^(?://|!) (kind|expect|compile|with|why)((?: \S+)*?): (.+)$")
_COUNTS = re.compile(r"^(\S+) written=(\d+) read=(\d+)$")
_ANNOUNCED = re.compile(r"^object (\S+) (0x[0-9a-f]+) (\d+)$", re.MULTILINE)
# The condition of the ways that see the machine code.
_HOOKS, _MACHINE = "hooks", "machine"
# What two ways of recording may differ by and still agree.
_NEAR = 0.02
_TIMEOUT_S = 120
_READ, _WRITE, _ATOMIC = 0, 1, 2
# Where references count: the limits of `select`, and the statements that set the marks.
_MARKS = {"from": ("count_from_here();", "begin"), "until": ("count_to_here();", "done")}


@dataclass(frozen=True)
class Bytes:
    """Bytes of an object that were written and read."""

    written: int
    read: int

    def __str__(self) -> str:
        return f"W{self.written} R{self.read}"


@dataclass(frozen=True)
class Variant:
    """One way to compile a program."""

    family: Family
    level: str

    def __str__(self) -> str:
        return f"{self.family} {self.level}"


@dataclass(frozen=True)
class Expectation:
    """One line of a header: the right count of an object where the conditions hold."""

    name: str
    bytes: Bytes
    conditions: frozenset[str]


@dataclass(frozen=True)
class Program:
    """A program of the corpus, with the facts of its header."""

    path: Path
    kind: str
    language: Language
    expected: tuple[Expectation, ...]
    variants: tuple[Variant, ...]
    flags: tuple[str, ...]
    why: str

    @property
    def name(self) -> str:
        return self.path.name

    def right(self, variant: Variant, via: Via) -> dict[str, Bytes]:
        """The right count of each object in one variant and way of recording."""
        holds = {variant.family, variant.level, via, _HOOKS if via == "hooks" else _MACHINE}
        return {e.name: e.bytes for e in self.expected if e.conditions <= holds}


@dataclass(frozen=True)
class Measured:
    """What one recording of one variant has for each object; why it failed, if it did."""

    program: str
    variant: Variant
    via: Via
    found: dict[str, Bytes]
    failure: str = ""


def read_program(path: Path) -> Program:
    """Reads a program's header; ValueError when it says too little."""
    facts: dict[str, list[str]] = {}
    expected = []
    for line in path.read_text().splitlines():
        if found := _FACT.match(line):
            facts.setdefault(found[1], []).append(found[3])
            if found[1] == "expect":
                expected.append(_expectation(path, found[2].split(), found[3]))
    missing = {"kind", "expect", "compile", "why"} - facts.keys()
    if missing:
        raise ValueError(f"{path.name}: no {', '.join(sorted(missing))}")
    return Program(
        path=path,
        kind=facts["kind"][0],
        language=_LANGUAGES[path.suffix],
        expected=tuple(expected),
        variants=_variants(path, facts["compile"][0]),
        flags=tuple(shlex.split(" ".join(facts.get("with", [])))),
        why=" ".join(facts["why"]),
    )


def _expectation(path: Path, conditions: list[str], text: str) -> Expectation:
    found = _COUNTS.match(text)
    if found is None:
        raise ValueError(f"{path.name}: not NAME written=N read=N: {text}")
    unknown = set(conditions) - {*get_args(Family), *_LEVELS, *get_args(Via), _MACHINE}
    if unknown:
        raise ValueError(f"{path.name}: unknown conditions {', '.join(sorted(unknown))}")
    return Expectation(found[1], Bytes(int(found[2]), int(found[3])), frozenset(conditions))


def _variants(path: Path, line: str) -> tuple[Variant, ...]:
    families, _, levels = line.partition(";")
    chosen = [f for f in get_args(Family) if f in families.split()]
    known = [level for level in levels.split() if level in _LEVELS]
    if sorted(chosen) != sorted(families.split()) or known != levels.split() or not known:
        raise ValueError(f"{path.name}: not COMPILERS; LEVELS: {line}")
    return tuple(Variant(family, level) for family in chosen for level in known)


def corpus(names: Iterable[str] = ()) -> list[Program]:
    """All programs, or those with these names (the ending may be left out)."""
    programs = [read_program(p) for p in sorted(PROGRAMS.iterdir()) if p.suffix in _LANGUAGES]
    wanted = set(names)
    unknown = wanted - {p.name for p in programs} - {p.path.stem for p in programs}
    if unknown:
        raise ValueError(f"no program {', '.join(sorted(unknown))}")
    return [p for p in programs if not wanted or wanted & {p.name, p.path.stem}]


def compile_program(program: Program, variant: Variant, via: Via, target: Path) -> None:
    """Compiles with the wrapper for hooks, with the plain compiler for emulation."""
    variable, driver = _DRIVERS[program.language, variant.family]
    words = ["-w", "-g", _STANDARDS[program.language], *_LEVELS[variant.level]]
    if program.language == "fortran":
        modules = Path(f"{target}.modules")
        modules.mkdir()
        words += ["-J", str(modules)]
    else:
        words += [f"-I{HERE}", f"-I{compilers.include_dir()}"]
    words += [str(program.path), "-o", str(target), *program.flags]
    if via != "qemu":
        hooks = "assembly" if via == "assembly" else "compiler"
        os.environ |= {variable: driver, "HOMENODE_HOOKS": hooks}
        code = compilers.compile(program.language, words)
    else:
        code = subprocess.run([driver, *words], check=False).returncode
    if code != 0:
        raise RuntimeError(f"the compiler ended with {code}")


def measure(program: Program, variant: Variant, via: Via, folder: Path) -> Measured:
    """Compiles, records and counts one variant; a failure is part of the answer."""
    target = folder / f"{program.name}.{variant.family}.{variant.level}.{via}"
    try:
        compile_program(program, variant, via, target)
        trace, out = _record(target, via)
        found = _count(program, trace, out)
    except (hn.ConfigError, hn.TraceError, RuntimeError, TimeoutError, OSError) as error:
        return Measured(program.name, variant, via, {}, str(error))
    return Measured(program.name, variant, via, found)


def _record(executable: Path, via: Via) -> tuple[hn.Trace, str]:
    deadline = time.monotonic() + _TIMEOUT_S

    def progress(_done: int, _total: int | None) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"still running after {_TIMEOUT_S} s")

    output, trace = (Path(f"{executable}{ending}") for ending in (".out", ".hnt"))
    with _stdout_in(output):
        recorded = hn.Trace.record(
            [str(executable)], trace, progress=progress, via="qemu" if via == "qemu" else "cc"
        )
    metadata = recorded.metadata
    if metadata.get("exit_code", 0) != 0 or metadata.get("exit_signal"):
        raise RuntimeError(f"the program ended with {metadata.get('exit_code')}")
    return recorded, output.read_text()


@contextmanager
def _stdout_in(path: Path) -> Iterator[None]:
    """The recorded program inherits this process's output: it goes to a file meanwhile."""
    saved = os.dup(1)
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _count(program: Program, trace: hn.Trace, out: str) -> dict[str, Bytes]:
    names = {each.name for each in program.expected}
    places = {m[1]: (int(m[2], 16), int(m[3])) for m in _ANNOUNCED.finditer(out)}
    source = program.path.read_text()
    limits = {end: f"marker:{mark}" for end, (call, mark) in _MARKS.items() if call in source}
    if limits:
        trace = hn.transform("select", trace, progress=None, **limits)
    for item in trace.metadata["ranges"]:
        if item["kind"] == "static" and item["name"] in names:
            places.setdefault(item["name"], (item["start"], item["size"]))
    # A trace has no names of what it never touches.
    totals = {name: Bytes(0, 0) for name in names}
    for batch in _core.read_batches(str(trace.path), ["kind", "addr", "size"]):
        for name, place in places.items():
            totals[name] = _added(totals[name], batch, *place)
    return totals


def _added(so_far: Bytes, batch: dict[str, np.ndarray], start: int, size: int) -> Bytes:
    """Bytes inside the object only: a reference may begin before it or end after it."""
    address, length = (batch[name].astype(np.int64) for name in ("addr", "size"))
    inside = np.minimum(address + length, start + size) - np.maximum(address, start)
    inside = np.maximum(inside, 0)
    kind = batch["kind"]
    written = int(inside[(kind == _WRITE) | (kind == _ATOMIC)].sum())
    read = int(inside[(kind == _READ) | (kind == _ATOMIC)].sum())
    return Bytes(so_far.written + written, so_far.read + read)


def judge(right: Bytes, found: Bytes | None) -> Verdict:
    """Near is what two ways of recording may differ by."""
    if found is None:
        return "failed"
    if found == right:
        return "right"
    pairs = ((right.written, found.written), (right.read, found.read))
    return "near" if all(abs(a - b) <= _NEAR * max(a, b) for a, b in pairs) else "wrong"


@dataclass(frozen=True)
class _Job:
    program: Program
    variant: Variant
    via: Via
    folder: Path

    def run(self) -> Measured:
        # gfortran looks for modules in the working directory before it looks anywhere else.
        os.chdir(self.folder)
        return measure(self.program, self.variant, self.via, self.folder)


def measure_all(
    programs: Iterable[Program], ways: Iterable[Via], folder: Path, jobs: int
) -> Iterator[Measured]:
    """All variants of the programs, as many at a time as `jobs`, in order."""
    wanted = [_Job(p, v, via, folder) for p in programs for v in p.variants for via in ways]
    # Processes, as the recorder's output and the compiler's variables belong to a process.
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(_Job.run, wanted)


@dataclass
class Scores:
    """How many objects are right, of how many, by kind of program and way to record it."""

    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    all: Counter[tuple[str, str]] = field(default_factory=Counter)

    def print_rows(self, program: Program, variant: Variant, ways: dict[Via, Measured]) -> None:
        """Prints one row for each object, and counts it."""
        for name, source in program.right(variant, "hooks").items():
            cells = []
            for via, measured in ways.items():
                found = measured.found.get(name)
                verdict = judge(program.right(variant, via)[name], found)
                place = (program.kind, via if via == "qemu" else f"{via}, {variant.family}")
                self.all[place] += 1
                self.right[place] += verdict in {"right", "near"}
                cells.append(f"{found or measured.failure!s:<22.21}{verdict:<8}")
            row = f"{program.name:<30}{variant!s:<13}{name:<14}{''.join(cells)}{source}"
            print(row, flush=True)

    def print_summary(self) -> None:
        """Prints the table of docs/capture.md."""
        kinds = list(dict.fromkeys(kind for kind, _ in self.all))
        columns = sorted({column for _, column in self.all}, key=_order)
        print(f"\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
        for kind in kinds:
            cells = []
            for column in columns:
                right, count = self.right[kind, column], self.all[kind, column]
                share = "all" if right == count else f"{right} of {count}"
                cells.append(share if count else "-")
            print(f"| {kind} | {' | '.join(cells)} |")


def _order(column: str) -> tuple[int, str]:
    way, _, family = column.partition(", ")
    return ([*get_args(Via)].index(way), "" if family == "gcc" else family)


def _only(program: Program, levels: list[str]) -> Program:
    return replace(program, variants=tuple(v for v in program.variants if v.level in levels))


def main(words: list[str]) -> int:
    """Prints the table; 1 when something is not right."""
    parser = argparse.ArgumentParser(description="compare recordings with known counts")
    parser.add_argument("--via", default="assembly,qemu", help="ways, in this order")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--level", choices=list(_LEVELS), help="only this optimisation")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args(words)
    ways: list[Via] = [way for way in get_args(Via) if way in given.via.split(",")]
    if len(ways) != len(given.via.split(",")):
        parser.error(f"--via: not {given.via}, but some of {', '.join(get_args(Via))}")
    levels = [given.level] if given.level else list(_LEVELS)
    programs = {p.name: _only(p, levels) for p in corpus(given.names)}
    heading = "".join(f"{way:<30}" for way in ways)
    print(f"{'program':<30}{'variant':<13}{'object':<14}{heading}expected")
    scores = Scores()
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        several: dict[Via, Measured] = {}
        for done in measure_all(programs.values(), ways, Path(folder), given.jobs):
            several[done.via] = done
            if len(several) == len(ways):
                scores.print_rows(programs[done.program], done.variant, several)
                several = {}
    scores.print_summary()
    return 0 if scores.right == scores.all else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

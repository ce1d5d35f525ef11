"""What a compiler runs in place of its assembler: inserts hooks, and runs the real one.

This is a script of its own, not a module of the package, whose import would take longer than
assembling most files. It needs the standard library and `homenode._core`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# What the wrapper of the compiler says: JSON with `command`, `is_clang`, `by_hand`
# and `time_trace`.
SETTINGS = "HOMENODE_ASSEMBLER"

# Options that take the next word.
_WITH_ARGUMENT = frozenset(["-o", "-I", "-D", "--defsym", "--MD", "--debug-prefix-map"])
# Nothing is assembled.
_QUESTIONS = frozenset(["--version", "--help", "--target-help"])
# What these write is written when the result is assembled.
_REPORTS = ("-a", "-v", "--listing", "--statistics")

# What gas and clang say about a text. What they say about a disk, memory or file has no such form.
_REFUSED = re.compile(r"(?:^|: )Error: |:\d+:\d+: error: ")

_TMPDIR = "TMPDIR names the folder for temporary files"


class AssemblerError(Exception):
    """Nothing was assembled; the message says why and what to do."""


@dataclass
class _Line:
    """An assembler's command line."""

    output: str = "a.out"
    inputs: list[str] = field(default_factory=list)
    # All other words, and those of them that matter to the code.
    others: list[str] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)


def _parse(words: Sequence[str]) -> _Line:
    line = _Line()
    rest = iter(words)
    for word in rest:
        if word == "-o":
            line.output = next(rest, line.output)
        elif not word.startswith("-"):
            line.inputs.append(word)
        elif word not in ("-", "--"):
            pair = [word, *([next(rest, "")] if word in _WITH_ARGUMENT else [])]
            line.others += pair
            if word != "--MD" and not word.startswith(_REPORTS):
                line.quiet += pair
    return line


def _run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, check=False, **options)
    except OSError as error:
        raise AssemblerError(
            f"cannot run the assembler {command[0]}: {error.strerror}; "
            "it is part of binutils (on Debian: apt install binutils)"
        ) from error


def _core() -> ModuleType:
    spec = PathFinder.find_spec("_core", [str(Path(__file__).parents[1])])
    if spec is None or spec.loader is None:
        raise ImportError("homenode is not complete: install it again")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class _Assembler:
    """The real assembler."""

    command: list[str]
    is_clang: bool
    line: _Line

    def run(self, source: str) -> int:
        words = [] if self.is_clang else self.line.others
        return _run([*self.command, *words, "-o", self.line.output, source]).returncode

    def labelled(self, source: str, target: str) -> _Outcome:
        """Assembles a text with its local labels."""
        words = ["-Wa,-L"] if self.is_clang else [*self.line.quiet, "-L"]
        return self._outcome(words, source, target)

    def hooked(self, source: str) -> _Outcome:
        """Assembles a text with hooks."""
        words = [] if self.is_clang else self.line.others
        return self._outcome(words, source, self.line.output)

    def _outcome(self, words: Sequence[str], source: str, target: str) -> _Outcome:
        """Raises AssemblerError when the assembler fails, which is not to refuse the text."""
        command = [*self.command, *words, source, "-o"]
        done = _run([*command, target], stderr=subprocess.PIPE)
        said = done.stderr.decode(errors="replace")
        if done.returncode == 0:
            return _Outcome("", said)
        # If it refuses the text it does so again where it writes nothing, and in English.
        again = _run([*command, os.devnull], capture_output=True, env={**os.environ, "LC_ALL": "C"})
        lines = again.stderr.decode(errors="replace").splitlines()
        refused = [line.strip() for line in lines if _REFUSED.search(line)]
        if again.returncode > 0 and refused:
            return _Outcome(refused[0], said)
        raise AssemblerError(
            f"{self.line.output} is not made: {_why(done, said)}; if {target} is on a full disk, "
            f"make room; {_TMPDIR}"
        )


def _why(failed: subprocess.CompletedProcess[bytes], said: str) -> str:
    if failed.returncode < 0:
        return f"{failed.args[0]} was ended by {signal.Signals(-failed.returncode).name}"
    return (said.strip().splitlines() or [f"{failed.args[0]} ended with {failed.returncode}"])[-1]


@dataclass(frozen=True)
class _Outcome:
    """What an assembler made of a text."""

    # Why it refuses the text; empty when it does not.
    problem: str
    said: str


def main(words: Sequence[str]) -> int:
    """Runs the assembler with these arguments; returns its exit code."""
    settings = json.loads(os.environ[SETTINGS])
    line = _parse(words)
    real = _Assembler(settings["command"], settings["is_clang"], line)
    if _QUESTIONS & set(words) or "--32" in words or len(line.inputs) > 1:
        return _run([*real.command, *words]).returncode
    with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
        source = line.inputs[0] if line.inputs else f"{folder}/input.s"
        if not line.inputs:
            _save(Path(source), sys.stdin.buffer.read())
        code = _assemble(real, source, folder, may_be_by_hand=settings["by_hand"])
    if settings["time_trace"]:
        _keep_time_trace(source, line.output)
    return code


def _assemble(real: _Assembler, source: str, folder: str, *, may_be_by_hand: bool) -> int:
    core = _core()
    text = core.Assembly(source)
    labelled, marked, result = (f"{folder}/{name}" for name in ("labelled.s", "a.o", "hooked.s"))
    text.label(labelled)
    first = real.labelled(labelled, marked)
    if first.problem:
        code = real.run(source)
        # If the compiler's own text is refused too, the assembler has said why.
        if code == 0:
            _say_no_hooks(real, first.problem)
        return code
    try:
        if may_be_by_hand and not text.is_of_a_compiler:
            text.count(marked, result, source)
            return real.run(result)
        text.hook(marked, result)
        if not (problem := real.hooked(result).problem):
            # Its warnings are of the compiler's text only. What clang says is of its own text.
            if not real.is_clang:
                sys.stderr.write(first.said)
            return 0
        text.count(marked, result, source)
        source = result
    except core.ConfigError as error:
        problem = str(error)
    _say_no_hooks(real, problem)
    return real.run(source)


def _say_no_hooks(real: _Assembler, problem: str) -> None:
    print(f"homenode: {real.line.output} has no hooks: {problem}", file=sys.stderr)


def _keep_time_trace(source: str, target: str) -> None:
    """For clang -ftime-trace: what is named after the assembly goes with the object."""
    trace = Path(source).with_suffix(".json")
    if trace.parent == Path(tempfile.gettempdir()) and trace.exists():
        _save(Path(target).with_suffix(".json"), trace.read_bytes())
        trace.unlink()


def _save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        # A failed write does not name the file by itself.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _start(words: Sequence[str]) -> Any:
    try:
        return main(words)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        problem = f"cannot insert hooks: {place}{error.strerror or error}"
        print(
            f"homenode: {problem}; make room or check the permissions; {_TMPDIR}", file=sys.stderr
        )
    except (KeyError, ImportError, AssemblerError) as error:
        print(f"homenode: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 2


if __name__ == "__main__":
    sys.exit(_start(sys.argv[1:]))

"""What a compiler runs in place of its assembler: inserts hooks, and runs the real one.

It starts for every file, and takes longer to start than most files take to assemble. So it is not
imported as a part of the package, and uses little of the standard library, and `homenode._core`.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What the wrapper of the compiler says: `settings`.
SETTINGS = "HOMENODE_ASSEMBLER"
CLANG, BY_HAND, TIME_TRACE = "clang", "by-hand", "time-trace"
_SEPARATOR = "\x1f"

# Options that take the next word.
_WITH_ARGUMENT = frozenset(["-o", "-I", "-D", "--defsym", "--MD", "--debug-prefix-map"])
# Nothing is assembled.
_QUESTIONS = frozenset(["--version", "--help", "--target-help"])
# What these write is written when the result is assembled.
_REPORTS = ("-a", "-v", "--listing", "--statistics")

# What gas and clang say about a text. What they say about a disk, memory or file has no such form.
_REFUSED = r"(?:^|: )Error: |:\d+:\d+: error: "

_TMPDIR = "TMPDIR names the folder for temporary files"
# Python ignores them.
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


class AssemblerError(Exception):
    """Nothing was assembled; the message says why and what to do."""


def settings(command: Sequence[str], facts: Sequence[str], folder: str) -> str:
    """The value of the variable.

    Args:
        command: how to run the real assembler.
        facts: which of `CLANG`, `BY_HAND` and `TIME_TRACE` hold.
        folder: where temporary files go.
    """
    return _SEPARATOR.join([",".join(facts), folder, *command])


class _Line:
    """An assembler's command line."""

    def __init__(self, words: Sequence[str]) -> None:
        self.output = "a.out"
        self.inputs: list[str] = []
        # All other words, and those of them that matter to the code.
        self.others: list[str] = []
        self.quiet: list[str] = []
        rest = iter(words)
        for word in rest:
            if word == "-o":
                self.output = next(rest, self.output)
            elif not word.startswith("-"):
                self.inputs.append(word)
            elif word not in ("-", "--"):
                pair = [word, *([next(rest, "")] if word in _WITH_ARGUMENT else [])]
                self.others += pair
                if word != "--MD" and not word.startswith(_REPORTS):
                    self.quiet += pair


class _Outcome:
    """How a command ended, and what it said if that was kept."""

    def __init__(self, code: int, said: str = "") -> None:
        self.code = code
        self.said = said
        # Why the assembler refuses the text; empty when it does not.
        self.problem = ""


def _run(
    command: list[str], *, keep: bool = False, variables: Mapping[str, str] | None = None
) -> _Outcome:
    """Runs a command; what it says is kept in memory, as the disk may be full."""
    said = os.memfd_create("said") if keep else -1
    actions = [(os.POSIX_SPAWN_DUP2, said, 2)] if keep else []
    environment = {**os.environ, **(variables or {})}
    try:
        child = os.posix_spawnp(
            command[0], command, environment, file_actions=actions, setsigdef=_DEFAULT_SIGNALS
        )
    except OSError as error:
        raise AssemblerError(
            f"cannot run the assembler {command[0]}: {error.strerror}; "
            "it is part of binutils (on Debian: apt install binutils)"
        ) from error
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not keep:
        return _Outcome(code)
    with open(said, "rb") as file:
        file.seek(0)
        return _Outcome(code, file.read().decode(errors="replace"))


class _Assembler:
    """The real assembler."""

    def __init__(self, command: list[str], line: _Line, *, is_clang: bool) -> None:
        self.command = command
        self.line = line
        self.is_clang = is_clang

    def run(self, source: str) -> int:
        words = [] if self.is_clang else self.line.others
        return _run([*self.command, *words, "-o", self.line.output, source]).code

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
        done = _run([*command, target], keep=True)
        if done.code == 0:
            return done
        # If it refuses the text it does so again where it writes nothing, and in English.
        again = _run([*command, os.devnull], keep=True, variables={"LC_ALL": "C"})
        if again.code > 0 and (refused := _refusal(again.said)):
            done.problem = refused
            return done
        raise AssemblerError(
            f"{self.line.output} is not made: {self._why(done)}; if {target} is on a full disk, "
            f"make room; {_TMPDIR}"
        )

    def _why(self, failed: _Outcome) -> str:
        if failed.code < 0:
            return f"{self.command[0]} was ended by signal {-failed.code}"
        lines = failed.said.strip().splitlines()
        # clang prints where it was when it could not write.
        full = [line for line in lines if "No space left" in line]
        return (full or lines)[-1] if lines else f"{self.command[0]} ended with {failed.code}"


def _refusal(said: str) -> str:
    import re

    return next((line.strip() for line in said.splitlines() if re.search(_REFUSED, line)), "")


class _Folder:
    """A folder for temporary files."""

    def __init__(self, place: str) -> None:
        self.name = f"{place}/homenode-{os.getpid()}-{os.urandom(4).hex()}"

    def __enter__(self) -> str:
        os.mkdir(self.name, 0o700)
        return self.name

    def __exit__(self, *_: object) -> None:
        for name in os.listdir(self.name):
            os.unlink(f"{self.name}/{name}")
        os.rmdir(self.name)


def main(words: Sequence[str]) -> int:
    """Runs the assembler with these arguments; returns its exit code."""
    facts, place, *command = os.environ[SETTINGS].split(_SEPARATOR)
    line = _Line(words)
    real = _Assembler(command, line, is_clang=CLANG in facts)
    if _QUESTIONS & set(words) or "--32" in words or len(line.inputs) > 1:
        return _run([*real.command, *words]).code
    with _Folder(place) as folder:
        source = line.inputs[0] if line.inputs else f"{folder}/input.s"
        if not line.inputs:
            _save(source, sys.stdin.buffer.read())
        code = _assemble(real, source, folder, may_be_by_hand=BY_HAND in facts)
    if TIME_TRACE in facts:
        _keep_time_trace(source, line.output, place)
    return code


def _assemble(real: _Assembler, source: str, folder: str, *, may_be_by_hand: bool) -> int:
    # Behind the standard library, as the package has modules of the same names.
    sys.path.append(os.path.dirname(os.path.dirname(__file__)))
    if TYPE_CHECKING:
        from homenode import _core as core
    else:
        import _core as core
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


def _keep_time_trace(source: str, target: str, place: str) -> None:
    """For clang -ftime-trace: what is named after the assembly goes with the object."""
    trace = f"{os.path.splitext(source)[0]}.json"
    if os.path.dirname(trace) == place and os.path.exists(trace):
        with open(trace, "rb") as file:
            _save(f"{os.path.splitext(target)[0]}.json", file.read())
        os.unlink(trace)


def _save(path: str, data: bytes) -> None:
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        # A failed write does not name the file by itself.
        raise OSError(error.errno, error.strerror, path) from error


def _end(number: int, _frame: object) -> None:
    """Ends as a shell says that a signal ended it, and removes the temporary files."""
    raise SystemExit(128 + number)


def start(words: Sequence[str]) -> int:
    """As `main`, but failures are a message and an exit code."""
    signal.signal(signal.SIGTERM, _end)
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

"""Compiles with hooks that are inserted into the compiler's assembly.

The compiler optimises as for an ordinary build. In place of its assembler it runs `assembler.py`,
which puts a hook before every access and runs the real assembler. So the references are those of
the machine code: vectors, constant tables, in-line copies and atomic updates of every kind; and
the compiler itself handles its command line and all files that it writes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.capture import assembler, build
from homenode.capture.arguments import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from homenode.capture.arguments import CommandLine

__all__ = ["Hooks", "hooks", "wanted"]

_HOOKS = "HOMENODE_HOOKS"
_BY_HAND = frozenset([".s", ".S", ".sx"])
# Imported, because Python keeps no compiled form of a script.
_START = (
    "import sys; sys.path.append({!r}); import assembler; sys.exit(assembler.start(sys.argv[1:]))"
)

# A call that is a jump leaves no return address, which names what the callee accesses or allocates.
_BOTH = ("-g", "-fno-optimize-sibling-calls", "-DHOMENODE_HOOKS_IN_ASSEMBLY")
# What tells which accesses are atomic. gcc explains every instruction in a comment. clang has hooks
# for them, which perform the operation.
_OF_GCC = ("-dP", "-fdwarf2-cfi-asm")
_OF_CLANG = (
    "-fno-integrated-as -fbinutils-version=none -Xclang "
    "-fsanitize=thread -mllvm -tsan-instrument-memory-accesses=0 "
    "-mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-instrument-memintrinsics=0"
).split()

# Options that matter to clang as the assembler, and those of them that take the next word.
_ASSEMBLER = ("-Wa,", "-m", "--target", "-B", "--sysroot")
_NOT_ASSEMBLER = ("-mllvm", "-masm=")
_ASSEMBLER_WITH_ARGUMENT = frozenset(["-Xassembler", "-target"])


def wanted() -> bool:
    """Whether sources are to be compiled this way.

    Raises:
        UsageError: when the variable that says so has an unknown value, or asks for hooks in an
            assembly that is not x86-64's.
    """
    is_possible = platform.machine() == "x86_64"
    chosen = os.environ.get(_HOOKS, "") or ("assembly" if is_possible else "compiler")
    if chosen not in ("compiler", "assembly"):
        raise UsageError(f"{_HOOKS}={chosen}: say compiler or assembly")
    if chosen == "assembly" and not is_possible:
        raise UsageError(f"{_HOOKS}=assembly needs x86-64: say compiler, or leave it out")
    return chosen == "assembly"


@dataclass(frozen=True)
class Hooks:
    """What makes a compiler insert hooks: words to put before the user's, and variables."""

    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    # The user's words in place of which others are needed.
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def adapted(self, words: Sequence[str]) -> list[str]:
        """The user's words, as the compiler is to get them."""
        return [part for word in words for part in self.instead.get(word, (word,))]


def is_clang(driver: Sequence[str]) -> bool:
    """Whether a program of the command that compiles is clang, or a link to it.

    The first word may be another program, such as ccache.
    """
    programs = [path for word in driver if (path := shutil.which(word)) is not None]
    return any("clang" in Path(path).name + Path(path).resolve().name for path in programs)


def hooks(driver: Sequence[str], line: CommandLine) -> Hooks:
    """What inserts hooks into what `driver` compiles for a command line.

    Raises:
        UsageError: when the compiler would not run another assembler.
    """
    clang = is_clang(driver)
    folder = _folder()
    _check_assembler(driver, folder)
    if clang:
        # -w: clang's assembler warns of what clang has written.
        command = [*driver, *_assembler_words(line.compile_words), "-w", "-c", "-x", "assembler"]
    else:
        folders = _folders(line.compile_words)
        command = [_answer([*driver, *folders, "-print-prog-name=as"])]
    facts = [
        *([assembler.CLANG] if clang else []),
        *([assembler.BY_HAND] if _may_be_by_hand(line) else []),
        *([assembler.TIME_TRACE] if "-ftime-trace" in line.all_words else []),
    ]
    environment = {assembler.SETTINGS: assembler.settings(command, facts, tempfile.gettempdir())}
    own = _OF_CLANG if clang else _OF_GCC
    if clang and all(Path(source.path).suffix == ".s" for source in line.sources):
        # Its own assembler uses words of the user's that another one does not get (-Werror).
        own = [*own, "-Wno-unused-command-line-argument"]
    # clang's assembler takes some names of variables in Intel syntax for registers.
    instead = {"-masm=intel": ("-Xclang", "-inline-asm=intel")} if clang else {}
    if "-S" in line.all_words:
        instead = {}
    return Hooks((f"-B{folder}", *_BOTH, *own), environment, instead)


def _check_assembler(driver: Sequence[str], folder: Path) -> None:
    """Asks a compiler whether it takes its assembler from a folder.

    That it does is remembered: clang takes as long to answer as to compile a small file.
    """
    known = folder / hashlib.sha256(build.identity(driver).encode()).hexdigest()[:24]
    if known.exists():
        return
    found = _answer([*driver, f"-B{folder}", "-print-prog-name=as"])
    if Path(found) != folder / "as":
        raise UsageError(
            f"{' '.join(driver)} always uses the assembler {found}; set {_HOOKS}=compiler"
        )
    with build.writing_to_cache(folder):
        known.touch()


def _may_be_by_hand(line: CommandLine) -> bool:
    """Whether a source may be hand-written assembly, which gets no hooks."""
    return any(
        Path(source.path).suffix in _BY_HAND
        or any(word.startswith("assembler") for word in source.words)
        for source in line.sources
    )


def _answer(command: Sequence[str]) -> str:
    environment = {**os.environ, build.NESTED: "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.stdout.strip()


def _folder() -> Path:
    """A folder with `as`, in which the compiler looks first.

    It is always the same one, because ccache compares command lines.
    """
    start = shlex.quote(_START.format(str(Path(__file__).parent)))
    text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -c {start} "$@"\n'
    folder = build.cache_dir() / f"assembler-{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    target = folder / "as"
    if not target.exists():
        build.make_cache_folder(folder)
        with build.writing_to_cache(folder), tempfile.TemporaryDirectory(dir=folder) as place:
            script = Path(place) / "as"
            script.write_text(text)
            script.chmod(0o755)
            script.replace(target)
    return folder


def _folders(words: Sequence[str]) -> list[str]:
    """The user's folders for the compiler's programs."""
    found = []
    for word, following in pairwise([*words, ""]):
        if word.startswith("-B"):
            found += [word, following] if word == "-B" else [word]
    return found


def _assembler_words(words: Sequence[str]) -> list[str]:
    chosen = []
    for word, following in pairwise([*words, ""]):
        if word in _ASSEMBLER_WITH_ARGUMENT or word == "-B":
            chosen += [word, following]
        elif word.startswith(_ASSEMBLER) and not word.startswith(_NOT_ASSEMBLER):
            chosen.append(word)
    return chosen

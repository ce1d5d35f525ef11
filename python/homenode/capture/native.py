"""The uninstrumented twin of a program: what `homenode record --native` times and --check emulates.

With ``HOMENODE_NATIVE=1`` the compiler wrapper compiles every source twice and puts the plain
object into a section of the instrumented one. So the plain object goes wherever a build system
moves the instrumented one: into other folders, archives, relocatable objects. A link of a program
takes the plain objects out again and links them as ``PROGRAM.native``. Linkers leave the section
itself out of programs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.capture import archives, build
from homenode.errors import ConfigError
from homenode.sanitize import sanitized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from homenode.capture.arguments import CommandLine

__all__ = ["WANTED", "add_plain", "link", "twin"]

# Asks the wrapper for twins.
WANTED = "HOMENODE_NATIVE"

_SECTION = ".homenode.native"
_SUFFIX = ".native"
# Hooks of the compiler and in the assembly.
_HOOKS = ("__tsan_", "__homenode_")
# Options that write dependency files, which the first compilation has written; some take a word.
_DEPENDENCIES = frozenset(["-MD", "-MMD", "-MP", "-MG"])
_DEPENDENCIES_WITH_ARGUMENT = frozenset(["-MF", "-MT", "-MQ"])
_GIVEN = "--native-program"
# What the options need a twin for.
_PURPOSES = {"--native": "to time", "--check": "to compare with"}


def wanted() -> bool:
    """Whether the wrapper is to make twins."""
    return os.environ.get(WANTED, "0") not in ("", "0")


def add_plain(target: str, command: Sequence[str]) -> None:
    """Compiles again with `command`, without instrumentation, and adds the result to an object."""
    if not Path(target).is_file():  # /dev/null, as in the checks of a configure script
        return
    with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
        plain = str(Path(folder) / "plain.o")
        # Source lines change no instruction; `record --check` compares by them.
        lines = [] if any(word.startswith("-g") for word in command) else ["-g"]
        if said := _failed([*_without_dependencies(command), *lines, "-w", "-o", plain]):
            _warn(target, f"compiling it without instrumentation failed: {said}")
            return
        _put(target, plain)


def _put(target: str, plain: str) -> None:
    whole = Path(target).resolve()
    flags = f"{_SECTION}=noload,readonly,exclude"
    command = ["objcopy", "--remove-section", _SECTION, "--add-section", f"{_SECTION}={plain}"]
    with tempfile.TemporaryDirectory(prefix="homenode-", dir=whole.parent) as folder:
        # objcopy itself writes over the object, of which a full disk then leaves a part.
        both = Path(folder) / whole.name
        if said := _failed([*command, "--set-section-flags", flags, str(whole), str(both)]):
            _warn(target, f"objcopy failed: {said}")
            return
        shutil.copymode(whole, both)
        both.replace(whole)


def link(driver: Sequence[str], line: CommandLine, objects: dict[int, str]) -> None:
    """Links the twin of what a command line links, from objects in place of the sources.

    A shared library has no twin: a twin would load the instrumented library.
    """
    output = line.output
    if line.shared or not Path(output).is_file():
        return
    target = output + _SUFFIX
    with tempfile.TemporaryDirectory(prefix="homenode-") as name:
        folder = Path(name)
        plain = str(folder / "plain.o") if line.relocatable else target
        words = [_plain_word(word, line, folder) for word in line.link_words(objects)]
        # -o comes last, where it wins.
        said = _failed([*driver, *words, "-o", plain])
        if said and not line.relocatable:
            Path(target).unlink(missing_ok=True)
        if any(hook in said for hook in _HOOKS):
            said = _without_twin(line)
        if said:
            _warn(output, f"linking it failed: {said}")
        elif line.relocatable:
            _put(output, plain)


def _plain_word(word: str, line: CommandLine, folder: Path) -> str:
    """A word of a link, with the plain object or an archive of plain objects in place of a file."""
    path = archives.library(word, line.library_dirs) if word.startswith("-l") else Path(word)
    if path is None or word.startswith("-L") or not path.is_file():
        return word
    number = len(list(folder.iterdir()))
    if archives.is_archive(path):
        members = folder / f"{number}-members"
        members.mkdir()
        objects = archives.unpack(path, members)
        taken = [_taken(member, member.with_suffix(".plain.o")) for member in objects]
        if not any(taken):
            return word
        target = folder / f"{number}-{path.name}"
        files = [str(plain or member) for plain, member in zip(taken, objects, strict=True)]
        return word if _failed(["ar", "rcs", str(target), *files]) else str(target)
    return str(_taken(path, folder / f"{number}-{path.stem}.o") or word)


def _without_twin(line: CommandLine) -> str:
    """Why the twin of a line could not be linked, and what to do about it."""
    for word in line.all_words:
        path = archives.named(word, line.library_dirs) if word.startswith("-l") else Path(word)
        shared = path is not None and ".so" in path.suffixes and path.is_file()
        if path is not None and shared and _has_hooks(path.read_bytes()):
            return (
                f"{path} is an instrumented shared library; link it as a static one, or build the "
                f"program again without homenode and time that with {_GIVEN}"
            )
    return f"an object or library on the line was compiled without {WANTED}=1"


def _taken(path: Path, target: Path) -> Path | None:
    """Extracts the plain object from an object, if it has one."""
    if path.suffix == ".so" or _SECTION.encode() not in path.read_bytes():
        return None
    copy = target.with_suffix(".copy")
    _failed(["objcopy", "--dump-section", f"{_SECTION}={target}", str(path), str(copy)])
    return target if target.exists() else None


def twin(program: str, given: str | None, *, for_: str = "--native") -> str:
    """The program to run in place of an instrumented one: the one given, or the twin beside it.

    Args:
        program: the instrumented program.
        given: the name of the other one, if the user gave one.
        for_: the option that needs it.

    Raises:
        ConfigError: when there is none, or it is an instrumented program.
    """
    found = shutil.which(program)
    if found is None:
        raise ConfigError(f"{program}: there is no such program; check its name and permissions")
    if given is not None:
        plain = shutil.which(given)
        if plain is None:
            raise ConfigError(f"{_GIVEN} {given}: there is no such program; check its name")
        name = f"{_GIVEN} {given}"
    else:
        plain = found + _SUFFIX
        name = f"{for_}: {plain}"
        remedy = f"build with {WANTED}=1 in the environment, or name a program with {_GIVEN}"
        if not os.access(plain, os.X_OK):
            raise ConfigError(
                f"{for_}: there is no uninstrumented program {_PURPOSES[for_]}: {plain} does not "
                f"exist; {remedy}"
            )
        if Path(plain).stat().st_mtime_ns < Path(found).stat().st_mtime_ns:
            raise ConfigError(f"{name} is older than {found}: it is from another build; {remedy}")
    if _is_instrumented(Path(plain).read_bytes()):
        raise ConfigError(
            f"{name} is instrumented itself; name a program that the compiler made without "
            "homenode cc"
        )
    return plain


def _has_hooks(image: bytes) -> bool:
    return any(hook.encode() in image for hook in _HOOKS)


def _is_instrumented(program: bytes) -> bool:
    """Whether a program has the recorder's runtime: hooks and interposed functions."""
    return b"__tsan_init" in program and b"__wrap_memcpy" in program


def _without_dependencies(command: Sequence[str]) -> list[str]:
    kept = []
    words = iter(command)
    for word in words:
        if word in _DEPENDENCIES_WITH_ARGUMENT:
            next(words, None)
        elif word not in _DEPENDENCIES and not word.startswith(("-MF", "-MT", "-MQ", "-Wp,-M")):
            kept.append(word)
    return kept


def _failed(command: Sequence[str]) -> str:
    """Runs a command; returns its error output if it fails, otherwise an empty text."""
    environment = {**os.environ, build.NESTED: "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, errors="replace"
        )
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return "" if done.returncode == 0 else done.stderr.strip() or f"code {done.returncode}"


def _warn(target: str, problem: str) -> None:
    """Warns only: the program itself is complete."""
    text = f"homenode: {target} has no uninstrumented twin: {problem}"
    print(sanitized(text, lines=True), file=sys.stderr)

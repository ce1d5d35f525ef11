"""`homenode cc`, `c++` and `fortran`: compile and link programs so that they can be recorded.

The wrapper runs the real compiler, puts a call of a hook before every access (in the compiler's
assembly, or by ``-fsanitize=thread``), and links homenode's runtime. Nothing else changes: options,
outputs, messages and the exit code are the compiler's own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.capture import arguments, assembly, build, native
from homenode.capture.assembly import Hooks
from homenode.errors import ConfigError
from homenode.sanitize import sanitized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from homenode.capture.arguments import CommandLine

__all__ = ["compile", "compiler", "include_dir"]

# For each language: variables that name the compiler, then the names to try.
_COMPILERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "c": (("HOMENODE_CC", "CC"), ("gcc", "cc", "clang")),
    "c++": (("HOMENODE_CXX", "CXX"), ("g++", "c++", "clang++")),
    "fortran": (("HOMENODE_FC", "FC"), ("gfortran",)),
}


def include_dir() -> Path:
    """The folder with ``homenode.h``, for builds that do not go through the wrapper."""
    return build.SOURCES / "include"


def compiler(language: str) -> list[str]:
    """The command that compiles `language`: ``c``, ``c++`` or ``fortran``.

    ``HOMENODE_CC`` wins over ``CC`` (and so on); a ``CC`` that is homenode itself, as in a package
    that is built with ``CC="homenode cc"``, is passed over.

    Raises:
        FileNotFoundError: when there is none; the message says what to do.
    """
    variables, names = _COMPILERS[language]
    if build.NESTED in os.environ:
        # CC may name a script that calls the wrapper again: reading it here would not terminate.
        variables = variables[:1]
    for variable in variables:
        words = shlex.split(os.environ.get(variable, ""))
        if words and not any("homenode" in Path(word).name for word in words[:3]):
            return words
    for name in names:
        if shutil.which(name):
            return [name]
    wanted = names[0]
    raise FileNotFoundError(
        f"no {language} compiler found: install {wanted} (on Debian: apt install {wanted}) "
        f"or name one in {variables[0]}"
    )


def compile(language: str, argv: Sequence[str]) -> int:
    """Runs the compiler for `language` with the arguments `argv`; returns its exit code."""
    try:
        driver = compiler(language)
        line = arguments.parse(argv)
        if line.asks_only or build.NESTED in os.environ:
            return _run([*driver, *argv])
        return (_link if line.links else _compile)(language, driver, line)
    except (OSError, build.RuntimeBuildError, arguments.UsageError, ConfigError) as error:
        print(f"homenode: {sanitized(str(error), lines=True)}", file=sys.stderr)
        return 2


def _run(command: Sequence[str], variables: Mapping[str, str] | None = None) -> int:
    environment = {**os.environ, **(variables or {}), build.NESTED: "1"}
    code = subprocess.run(command, check=False, env=environment).returncode
    return 128 - code if code < 0 else code


def _hooks(driver: Sequence[str], line: CommandLine) -> Hooks:
    """What makes the compiler of a command line insert hooks."""
    if assembly.wanted():
        return assembly.hooks(driver, line)
    # gcc warns that this option's own runtime knows no fences: homenode's does.
    quiet = () if assembly.is_clang(driver) else ("-Wno-tsan",)
    return Hooks(("-g", "-fsanitize=thread", *quiet))


def _run_with_hooks(
    language: str, driver: Sequence[str], hooks: Hooks, words: Sequence[str]
) -> int:
    """Runs the compiler with words of the command line, so that it inserts hooks."""
    # Before the user's own words, which then override them.
    own = [*hooks.words, *_include_flags(language)]
    if assembly.is_clang(driver):
        # It warns of words that a command does not use, such as one that only assembles.
        own = ["--start-no-unused-arguments", *own, "--end-no-unused-arguments"]
    return _run([*driver, *own, *hooks.adapted(words)], hooks.environment)


def _include_flags(language: str) -> list[str]:
    return [] if language == "fortran" else ["-isystem", str(include_dir())]


def _compile(language: str, driver: Sequence[str], line: CommandLine) -> int:
    """Compiles the sources on the line as it says, without linking."""
    code = _run_with_hooks(language, driver, _hooks(driver, line), line.all_words)
    if code == 0 and line.assembles and not line.headers and native.wanted():
        for source in line.sources:
            step = _plain_step(language, driver, line, source)
            native.add_plain(line.object_of(source), step)
    return code


def _plain_step(
    language: str, driver: Sequence[str], line: CommandLine, source: arguments.Source
) -> list[str]:
    """The command that compiles a source without instrumentation, without the output option."""
    return [*driver, *_include_flags(language), *line.compile_words, "-c", *source.words]


def _link(language: str, driver: Sequence[str], line: CommandLine) -> int:
    """Compiles the sources on the line and links everything."""
    if line.openmp and assembly.is_clang(driver):
        raise arguments.UsageError(
            "clang -fopenmp: programs with clang's OpenMP library cannot be recorded; "
            "compile with gcc (HOMENODE_CC=gcc, HOMENODE_CXX=g++)"
        )
    extra = [] if line.relocatable else _runtime(line)
    if line.sources and assembly.wanted() and not native.wanted():
        words = [*line.all_words, "-x", "none", *extra]
        return _run_with_hooks(language, driver, _hooks(driver, line), words)
    return _link_in_steps(language, driver, line, extra)


def _link_in_steps(
    language: str, driver: Sequence[str], line: CommandLine, extra: Sequence[str]
) -> int:
    """Compiles the sources on the line to objects, then links everything.

    The flag of the sanitizer belongs to the first step only, and the second needs the objects'
    uninstrumented twins.
    """
    with tempfile.TemporaryDirectory(prefix="homenode-") as folder:
        objects: dict[int, str] = {}
        hooks = _hooks(driver, line) if line.sources else Hooks()
        for number, source in enumerate(line.sources):
            target = str(Path(folder) / f"{number}-{Path(source.path).stem}.o")
            words = [*line.compile_words, "-c", "-o", target, *source.words]
            if code := _run_with_hooks(language, driver, hooks, words):
                return code
            if native.wanted():
                native.add_plain(target, _plain_step(language, driver, line, source))
            objects[source.position] = target
        code = _run([*driver, *line.link_words(objects), *extra])
        if code == 0 and native.wanted():
            native.link(driver, line, objects)
        return code


def _runtime(line: CommandLine) -> list[str]:
    return build.link_flags(
        compiler("c"), shared=line.shared, static=line.static, openmp=line.openmp
    )

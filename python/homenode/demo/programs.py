"""The programs of the demonstration, in C, and how they are compiled.

The sources are part of the package, so that the demonstration runs wherever homenode is installed.
Programs elsewhere that include a header of this folder are compiled in the same way.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from homenode.errors import ConfigError

Compiler = Literal["cc", "homenode"] | Sequence[str]

FOLDER = Path(__file__).resolve().parent
"""Where the C sources are."""

_HEADERS = FOLDER.parent / "capture" / "runtime" / "include"

# `homenode cc` of this interpreter, whether or not its scripts are on the path. With -P no file in
# the current folder, such as a click.py, is loaded in place of a module.
_WRAPPER = (sys.executable, "-P", "-m", "homenode", "cc")

_FLAGS = ("-O2", "-Wall", "-Wextra")


def source(name: str) -> Path:
    """The C source of a program of this folder."""
    return FOLDER / f"{name}.c"


def command(
    path: Path, out: str | Path, compiler: Compiler = "cc", flags: Sequence[str] = _FLAGS
) -> list[str]:
    """The compiler's command line that makes the program `out`.

    Args:
        path: the C source.
        out: the program to write.
        compiler: ``cc`` for a native program, ``homenode`` for one that can be recorded, or any
            compiler's command as a sequence.
        flags: further flags for the compiler.

    >>> from homenode.demo import programs
    >>> programs.command(programs.source("fft"), "fft")[:3]
    ['cc', '-std=c11', '-g']
    """
    if compiler == "homenode":
        start: Sequence[str] = _WRAPPER
    else:
        start = (compiler,) if isinstance(compiler, str) else compiler
    return [
        *start,
        *("-std=c11", "-g", *flags, f"-I{FOLDER}", f"-I{_HEADERS}"),
        *("-o", str(out), str(path), "-pthread", "-lm"),
    ]


def build(
    path: Path, out: str | Path, compiler: Compiler = "cc", flags: Sequence[str] = _FLAGS
) -> Path:
    """Compiles a program; arguments as for :func:`command`.

    Returns:
        The path of the program.

    Raises:
        ConfigError: when there is no such compiler, or it reports an error.
    """
    line = command(path, out, compiler, flags)
    try:
        result = subprocess.run(line, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ConfigError(
            f"cannot start the compiler {line[0]!r}: {error.strerror}; install a C compiler "
            "(on Debian: apt install gcc)"
        ) from error
    if result.returncode != 0:
        said = result.stderr.strip() or result.stdout.strip()
        raise ConfigError(f"compiling {path.name} failed: {' '.join(line)}\n{said}")
    return Path(out)

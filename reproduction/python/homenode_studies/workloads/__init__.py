"""The workload suite: small parallel C programs, one file each, and the table that lists them.

The sources are part of the package, so they can be built wherever it is installed:

>>> from homenode_studies import workloads
>>> [entry.name for entry in workloads.TABLE][:3]
['gauss', 'sorbyr', 'sorbyc']
"""

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from homenode.demo import programs
from homenode.demo.programs import Compiler
from homenode.errors import ConfigError
from homenode.options import named

__all__ = [
    "CHECK",
    "FLAGS",
    "FOLDER",
    "TABLE",
    "Size",
    "Variant",
    "Workload",
    "build",
    "command",
    "find",
    "source_file",
    "table",
    "with_size",
]

FOLDER = Path(__file__).resolve().parent
"""The folder of the C sources, except those of the demonstration (`homenode.demo.programs`)."""

FLAGS = ("-O2", "-fno-tree-vectorize", "-Wall", "-Wextra")
"""Default flags of the compiler. The publications' machines have no vectors."""

CHECK = "check"
"""The mark of a program at the end of its computation: what follows checks the result."""

THREADS = 8
"""Default number of threads of a workload, one per processor."""


@dataclass(frozen=True)
class Variant:
    """Arguments that change how a workload shares memory."""

    arguments: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Size:
    """A workload's size in a publication's study: threads, one per processor, and arguments.

    `quantum` is the number of references in a thread's turn.
    """

    threads: int
    arguments: tuple[str, ...]
    quantum: int = 100


@dataclass(frozen=True)
class Workload:
    """One program: an entry of ``workloads.toml``, which explains the fields."""

    name: str
    file: str
    summary: str
    source: str
    sharing: str
    arguments: tuple[str, ...]
    quick: tuple[str, ...]
    thesis: str = ""
    per_thread: bool = False
    sizes: dict[str, Size] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()

    @property
    def path(self) -> Path:
        """The C source."""
        return source_file(self.file)

    def size(self, name: str) -> Size:
        """The size of the program in the study of this name.

        Raises:
            ConfigError: when the program has no such size.
        """
        if name in self.sizes:
            return self.sizes[name]
        known = ", ".join(self.sizes) or "only its own and the quick one"
        raise ConfigError(
            f"{self.name} has no size {name!r}; it has: {known}. `homenode workloads list --json` "
            "has the sizes of all programs"
        )

    def describe(self) -> dict[str, Any]:
        """The entry as plain data, for lists and JSON."""
        return asdict(self)


def _load() -> tuple[Workload, ...]:
    with (FOLDER / "workloads.toml").open("rb") as file:
        rows = tomllib.load(file)["workload"]
    return tuple(
        Workload(
            **row
            | {
                "arguments": tuple(row["arguments"]),
                "quick": tuple(row["quick"]),
                "sizes": {name: _size(size) for name, size in row.get("sizes", {}).items()},
                "variants": tuple(
                    Variant(tuple(variant["arguments"]), variant["summary"])
                    for variant in row.get("variants", ())
                ),
            }
        )
        for row in rows
    )


def _size(row: dict[str, Any]) -> Size:
    return Size(**row | {"arguments": tuple(row["arguments"])})


TABLE: tuple[Workload, ...] = _load()
"""Every workload, in documentation order."""


def with_size(size: str) -> list[str]:
    """Names of the workloads that have a size of this name, in documentation order.

    Raises:
        ConfigError: when none has.

    >>> from homenode_studies import workloads
    >>> workloads.with_size("markatos")
    ['fft-in-place', 'simple-columns', 'weather', 'speech']
    """
    found = [entry.name for entry in TABLE if size in entry.sizes]
    if found:
        return found
    names = dict.fromkeys(name for entry in TABLE for name in entry.sizes)
    raise ConfigError(f"no workload has a size {size!r}; choose one of {', '.join(names)}")


def table() -> list[dict[str, Any]]:
    """Every workload as plain data, in documentation order."""
    return [entry.describe() for entry in TABLE]


def source_file(file: str) -> Path:
    """The path of a C file: in this package, or among the programs of the demonstration."""
    own = FOLDER / file
    return own if own.exists() else programs.FOLDER / file


def find(name: str) -> Workload:
    """The workload of this name.

    Raises:
        ConfigError: when there is none.
    """
    return named.find("workload", TABLE, name)


def command(
    name: str,
    out: str | Path,
    compiler: Compiler = "cc",
    flags: Sequence[str] = FLAGS,
) -> list[str]:
    """The compiler's command line that makes the program `out`.

    Args:
        name: the workload.
        out: the program to write.
        compiler: ``cc`` for a native program, ``homenode`` for one that can be recorded, or any
            compiler's command as a sequence.
        flags: further flags for the compiler.

    >>> from homenode_studies import workloads
    >>> workloads.command("gauss", "gauss")[:3]
    ['cc', '-std=c11', '-g']
    """
    return programs.command(find(name).path, out, compiler, flags)


def build(
    name: str,
    out: str | Path,
    compiler: Compiler = "cc",
    flags: Sequence[str] = FLAGS,
) -> Path:
    """Compiles a workload; arguments as for :func:`command`.

    Returns:
        The path of the program.

    Raises:
        ConfigError: when there is no such workload or compiler, or the compiler reports an error.
    """
    return programs.build(find(name).path, out, compiler, flags)

"""Builds the runtime that recorded programs are linked with, once a compiler, and keeps it.

The sources travel with the package; the user's own compiler turns them into two objects, for
dynamic and for static programs, in ``$XDG_CACHE_HOME/homenode`` under a name that depends on
everything that went in. Several builds at once do not disturb each other: each writes a folder of
its own and renames it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SOURCES", "Runtime", "RuntimeBuildError", "build", "cache_dir"]

SOURCES = Path(__file__).parent / "runtime"

# -fno-builtin: our own loops must not become calls of the functions we stand in for.
# -fexceptions: cancellation and C++ exceptions unwind through our frames.
_FLAGS = (
    "-std=gnu11 -O2 -g -fPIC -fexceptions -fvisibility=hidden -fno-builtin "
    "-fno-stack-protector -fno-strict-aliasing -fno-omit-frame-pointer -w"
).split()


class RuntimeBuildError(Exception):
    """The runtime could not be compiled."""


@dataclass(frozen=True)
class Runtime:
    """The built objects."""

    folder: Path

    def link_flags(self, *, shared: bool, static: bool, openmp: bool) -> list[str]:
        """What a link needs at its end.

        A shared library gets only the renaming of memcpy and its family: the runtime itself is in
        the program that loads it.
        """
        if shared:
            return [f"-Wl,@{self.folder / 'dynamic.wrap'}"]
        if static:
            parts = ["static", "static-openmp"] if openmp else ["static"]
            flags = [str(self.folder / f"{part}.o") for part in parts]
            return [*flags, *(f"-Wl,@{self.folder / part}.wrap" for part in parts), "-lpthread"]
        return [
            str(self.folder / "dynamic.o"),
            f"-Wl,@{self.folder / 'dynamic.wrap'}",
            f"-Wl,--dynamic-list={self.folder / 'dynamic.list'}",
            "-lpthread",
            "-ldl",
        ]


def cache_dir() -> Path:
    """Where built runtimes are kept; deleting it costs a second at the next link."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "homenode"


def build(compiler: Sequence[str]) -> Runtime:
    """The runtime for programs linked with `compiler`, compiled unless that was done before.

    Raises:
        RuntimeBuildError: when the compiler refuses, with what it said.
    """
    sources = sorted(SOURCES.glob("*.c"))
    target = cache_dir() / f"runtime-{_fingerprint(compiler, sources)}"
    if target.is_dir():
        return Runtime(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
    try:
        for variant, flags, parts in _variants(sources):
            _compile(compiler, parts, folder / f"{variant}.o", flags)
            _write_lists(folder, variant)
        try:
            folder.rename(target)
        except OSError:
            # Another process was faster with the same content.
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Runtime(target)


def _variants(sources: Sequence[Path]) -> list[tuple[str, list[str], list[Path]]]:
    """Name, flags and sources of each object.

    A static program without OpenMP has no libgomp to call, so that part is apart; a dynamic one
    looks the functions up when it starts.
    """
    openmp = [source for source in sources if source.name.startswith("gomp")]
    others = [source for source in sources if source not in openmp]
    return [
        ("dynamic", [], list(sources)),
        ("static", ["-DHN_STATIC"], others),
        ("static-openmp", ["-DHN_STATIC"], openmp),
    ]


def _fingerprint(compiler: Sequence[str], sources: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    program = shutil.which(compiler[0]) or compiler[0]
    status = Path(program).resolve().stat()
    digest.update(f"{compiler} {program} {status.st_size} {status.st_mtime_ns}".encode())
    digest.update(" ".join(_flags()).encode())
    for path in [*sources, *sorted(SOURCES.glob("*.h"))]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _flags() -> list[str]:
    # cmpxchg16b, for atomic operations on 16 bytes.
    return [*_FLAGS, "-mcx16"] if platform.machine() == "x86_64" else list(_FLAGS)


def _compile(
    compiler: Sequence[str], sources: Sequence[Path], target: Path, flags: Sequence[str]
) -> None:
    """All sources into one relocatable object, so that no archive's order can lose a part."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        objects = []
        for source in sources:
            objects.append(str(Path(folder) / f"{source.stem}.o"))
            _checked([*compiler, *_flags(), *flags, "-c", str(source), "-o", objects[-1]])
        _checked([*compiler, "-r", "-nostdlib", "-o", str(target), *objects])


def _checked(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeBuildError(
            f"cannot run {command[0]}: {error.strerror}; the runtime of recorded programs needs "
            "a C compiler and binutils (on Debian: apt install gcc)"
        ) from error
    if done.returncode != 0:
        raise RuntimeBuildError(
            f"compiling the runtime of recorded programs failed: {' '.join(command)}\n{done.stderr}"
        )
    return done.stdout


def _write_lists(folder: Path, variant: str) -> None:
    """The linker's instructions, from what the object defines.

    ``.wrap``: calls to rename, because the object has the replacement. ``.list``: names that
    libraries must find in the program, so that theirs are replaced as well.
    """
    wrapped, exported = [], []
    for line in _checked(["nm", "--defined-only", "-g", str(folder / f"{variant}.o")]).splitlines():
        kind, name = line.split()[-2:]
        if name.startswith("__wrap_"):
            wrapped.append(name.removeprefix("__wrap_"))
        if kind in "WV" or name.startswith(("__tsan_", "__wrap_", "homenode_")):
            exported.append(name)
    (folder / f"{variant}.wrap").write_text("".join(f"--wrap={name}\n" for name in wrapped))
    text = "{\n" + "".join(f"  {name};\n" for name in exported) + "};\n"
    (folder / f"{variant}.list").write_text(text)

"""Builds the runtime of recorded programs, once for each compiler, and keeps it.

The package has the sources. When a program that needs the runtime is first linked, the user's own
compiler makes an object of them in ``$XDG_CACHE_HOME/homenode``, under a name that depends on
sources, flags and compiler. Concurrent builds do not interfere: each writes a folder of its own and
renames it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "NESTED",
    "SOURCES",
    "RuntimeBuildError",
    "build_mark",
    "build_plugin",
    "cache_dir",
    "identity",
    "link_flags",
    "make_cache_folder",
    "writing_to_cache",
]

# Set for the compilers that the wrapper starts, so that a CC that calls the wrapper does not
# recurse.
NESTED = "HOMENODE_NESTED"

SOURCES = Path(__file__).parent / "runtime"

# The runtime's sources. Their order determines the addresses of the runtime's code, which are the
# program counters of some references: add new files at the end, so that checksums of recordings
# stay the same.
_RUNTIME = (
    "affinity",
    "area",
    "atomics",
    "blocking",
    "blocking_events",
    "c11",
    "user_threads",
    "clocks",
    "directed",
    "program_exit",
    "fd_wait",
    "fork",
    "executions",
    "futex",
    "gomp",
    "gomp_loops",
    "gomp_sync",
    "gomp_task",
    "hooks",
    "kernel_thread_calls",
    "init",
    "thread_lists",
    "locks",
    "logical",
    "logical_waits",
    "text_events",
    "mappings",
    "memory",
    "once",
    "resolve",
    "ring",
    "rwlocks",
    "sched",
    "signals",
    "slots",
    "stack_table",
    "stacks",
    "strings",
    "threads",
    "transfers",
    "virtual_time",
    "ordered_calls",
    "waits",
    "watchdog",
    "atomic_calls",
    "fields",
    "mutexes",
    "spawns",
    "polls",
    "user_memory",
    "receives",
    "sends",
    "moves",
    *(("assembly_calls", "assembly") if platform.machine() == "x86_64" else ()),
)

# -fno-builtin: the runtime's loops must not become calls of interposed functions.
# -fexceptions: cancellation and C++ exceptions unwind through our frames.
# -g1: functions and lines, which call stacks name. The runtime's types would be read in every
# recording, and be most of what there is to read about a small program.
_FLAGS = (
    "-std=gnu11 -O2 -g1 -fPIC -fexceptions -fvisibility=hidden -fno-builtin "
    "-fno-stack-protector -fno-strict-aliasing -fno-omit-frame-pointer -w"
).split()

# Functions of threads that the compiler's libraries call once a program has threads, without asking
# the linker for them. With the runtime a static program has threads.
_STATIC_THREADS = (
    "once getspecific setspecific create join equal self detach cancel mutex_lock mutex_trylock "
    "mutex_timedlock mutex_unlock mutex_init mutex_destroy cond_init cond_broadcast cond_signal "
    "cond_wait cond_timedwait cond_destroy key_create key_delete mutexattr_init mutexattr_settype "
    "mutexattr_destroy rwlock_rdlock rwlock_wrlock rwlock_unlock"
).split()


class RuntimeBuildError(Exception):
    """The runtime could not be compiled."""


@dataclass(frozen=True)
class Variant:
    """One object file: its name, compiler flags and sources."""

    name: str
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    target: str = "runtime.o"


def cache_dir() -> Path:
    """Where built runtimes are kept; deleting it costs a second at the next link.

    As the XDG specification says, a relative name in the variable counts for nothing.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (root if root.is_absolute() else Path.home() / ".cache") / "homenode"


def make_cache_folder(folder: Path) -> None:
    """Makes a folder in the cache.

    Raises:
        RuntimeBuildError: when that is not possible, with the remedy.
    """
    with writing_to_cache(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def writing_to_cache(folder: Path) -> Iterator[None]:
    """Names the folder and the remedy when a file cannot be written in this block."""
    try:
        yield
    except OSError as error:
        raise RuntimeBuildError(
            f"cannot write to the cache folder {folder}: {error.strerror}; make room there, or "
            "name another one in XDG_CACHE_HOME"
        ) from error


def link_flags(compiler: Sequence[str], *, shared: bool, static: bool, openmp: bool) -> list[str]:
    """The words a link needs at its end; builds the runtime for `compiler` if necessary.

    A shared library gets only the renaming of memcpy and its family: the runtime itself is in the
    program that loads it. A static program without OpenMP has no libgomp to call, so there that
    part of the runtime is a separate object; a dynamic program looks the functions up when it
    starts.

    Raises:
        RuntimeBuildError: when the compiler fails, with its messages.
    """
    sources = tuple(SOURCES / f"{name}.c" for name in _RUNTIME)
    for_openmp = tuple(source for source in sources if source.name.startswith("gomp"))
    others = tuple(source for source in sources if source not in for_openmp)
    if not static:
        folder = _build(compiler, Variant("dynamic", (), sources))
        wrap = f"-Wl,@{folder / 'runtime.wrap'}"
        exports = f"-Wl,--dynamic-list={folder / 'runtime.list'}"
        # Our functions call libgomp's, but it is in the program only if the program needs it.
        gomp = ["-Wl,--push-state,--no-as-needed", "-lgomp", "-Wl,--pop-state"] if openmp else []
        own = [
            "-Wl,-u,malloc",
            str(folder / "runtime.o"),
            wrap,
            exports,
            *gomp,
            "-lpthread",
            "-ldl",
        ]
        return [wrap] if shared else own
    folders = [_build(compiler, Variant("static", ("-DHN_STATIC",), others))]
    if openmp:
        folders.append(_build(compiler, Variant("openmp", ("-DHN_STATIC",), for_openmp)))
    objects = [str(folder / "runtime.o") for folder in folders]
    wraps = [f"-Wl,@{folder / 'runtime.wrap'}" for folder in folders]
    threads = [f"-Wl,-u,pthread_{name}" for name in _STATIC_THREADS]
    return [*objects, *wraps, *threads, "-lpthread"]


def build_plugin(compiler: Sequence[str], sources: tuple[Path, ...]) -> Path:
    """The shared object of an emulator's plugin, built from `sources` unless it exists.

    Raises:
        RuntimeBuildError: when the compiler fails, with its messages.
    """
    return _build(compiler, Variant("qemu", ("-shared",), sources, "plugin.so")) / "plugin.so"


def build_mark(compiler: Sequence[str], sources: tuple[Path, ...]) -> Path:
    """The mark program for whole systems, built from `sources` unless it exists.

    It is linked statically: nothing is known about the libraries of the system it runs in.

    Raises:
        RuntimeBuildError: when the compiler fails, with its messages.
    """
    return _build(compiler, Variant("mark", ("-static",), sources, "mark")) / "mark"


def _build(compiler: Sequence[str], variant: Variant) -> Path:
    """The folder with the object and the linker's instructions."""
    target = cache_dir() / f"runtime-{variant.name}-{_fingerprint(compiler, variant)}"
    if target.is_dir():
        return target
    make_cache_folder(target.parent)
    with writing_to_cache(target.parent), _alone(target):
        if not target.is_dir():
            folder = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
            try:
                _compile(compiler, variant, folder)
                _rename(folder, target)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return target


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Waits for other processes that build the same, as those of a parallel build do at first."""
    name = target.with_suffix(".lock")
    with name.open("w") as lock:
        # Some file systems of networks have no locks.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            name.unlink(missing_ok=True)


def _rename(folder: Path, target: Path) -> None:
    try:
        folder.rename(target)
    except OSError:
        # Without locks, another process may have renamed the same content there first.
        if not target.is_dir():
            raise


def identity(compiler: Sequence[str]) -> str:
    """What tells a compiler from others, and from itself after an update."""
    program = shutil.which(compiler[0]) or compiler[0]
    status = Path(program).resolve().stat()
    return f"{compiler} {program} {status.st_size} {status.st_mtime_ns}"


def _fingerprint(compiler: Sequence[str], variant: Variant) -> str:
    digest = hashlib.sha256()
    digest.update(identity(compiler).encode())
    digest.update(" ".join([*_flags(), *variant.flags]).encode())
    headers = {path for source in variant.sources for path in source.parent.glob("*.h")}
    for path in [*variant.sources, *sorted(headers)]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _flags() -> list[str]:
    # cmpxchg16b, for atomic operations on 16 bytes.
    return [*_FLAGS, "-mcx16"] if platform.machine() == "x86_64" else list(_FLAGS)


def _compile(compiler: Sequence[str], variant: Variant, folder: Path) -> None:
    """All sources as one: the system's headers are read once, which is most of the time."""
    whole = folder / "runtime.c"
    whole.write_text("".join(f'#include "{source.name}"\n' for source in variant.sources))
    target = folder / variant.target
    folders = sorted({str(source.parent) for source in variant.sources} | {str(SOURCES)})
    flags = [*_flags(), *variant.flags, *(f"-I{name}" for name in folders)]
    if variant.target != "runtime.o":
        _checked([*compiler, *flags, str(whole), "-o", str(target), "-lpthread", "-ldl"])
        return
    # A build may set CC to a compiler of C++.
    _checked([*compiler, *flags, "-c", "-x", "c", str(whole), "-o", str(target)])
    _write_lists(folder, target)


def _checked(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, NESTED: "1"}
        )
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


def _write_lists(folder: Path, target: Path) -> None:
    """The linker's instructions, from what the object defines.

    ``.wrap``: calls to rename, because the object has the replacement. ``.list``: names that
    libraries must find in the program, so that theirs are replaced as well.
    """
    wrapped, exported = [], []
    for line in _checked(["nm", "--defined-only", "-g", str(target)]).splitlines():
        kind, name = line.split()[-2:]
        if name.startswith("__wrap_"):
            wrapped.append(name.removeprefix("__wrap_"))
        # The compiler's own hidden symbols cannot be exported: gold warns of them.
        is_replaced = kind in "WV" and not name.startswith("DW.ref.")
        if is_replaced or name.startswith(("__tsan_", "__homenode_", "__wrap_", "homenode_")):
            exported.append(name)
    (folder / "runtime.wrap").write_text("".join(f"--wrap={name}\n" for name in wrapped))
    text = "{\n" + "".join(f"  {name};\n" for name in exported) + "};\n"
    (folder / "runtime.list").write_text(text)

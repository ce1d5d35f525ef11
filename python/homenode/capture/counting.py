"""Bytes of a recording by object and by the code that moves them: what `checking` compares.

Every reference belongs to one object and one part of the program's code. Parts are

* *own*: what instructions of the program's own files do;
* *sync*: those of them that synchronise;
* *called*: what ``memcpy`` and its family do when these files call them: recording with hooks
  counts such bytes at the call;
* *library*: all other code, which has no hooks;
* *kernel*: references that the kernel made.

A recording with hooks has no library part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from homenode import _core
from homenode.capture.modules import PROGRAM, RECORDED_AT_CALL, Modules

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CALLED",
    "KERNEL",
    "LIBRARY",
    "OF_COMPILERS",
    "OWN",
    "SYNC",
    "Counts",
    "Key",
    "Span",
    "counted",
]

OWN, SYNC, CALLED, LIBRARY, KERNEL = range(5)
PARTS = 5
READ_BYTES, WRITTEN_BYTES, REFERENCES = range(3)
COLUMNS: Final = 3

# What an instruction belongs to: the program's files, stubs of the linker and code without source
# lines, functions that hooks record at the call, the dynamic linker, and the rest.
_OWN_CODE, _GLUE, _BLOCK, _LINKER, _OTHER = range(5)
_READ, _WRITE, _ATOMIC, _FETCH = range(4)
# The kernel's own references, and those to the data of a system call.
_SYNC_FLAG, _KERNEL_FLAGS, _PRIVATE_FLAG = 2, 4 | 8, 1
_THREADS = 65536
_TOP = (1 << 64) - 1
_WITHOUT_LINES = "the program's stubs and code without source lines"
# Compilers number the static variables of functions, and do so anew for every compilation.
_NUMBERED = re.compile(r"\.\d+$")
_STACKS, _TLS, _HEAP = "stacks", "thread-local", "heap"
# Sections with what the compiler and the linker add to a program: instructions that access them
# have no hooks.
OF_COMPILERS: Final = (".rodata", ".lrodata", ".got", ".data.rel.ro", ".dynamic", ".eh_frame")
# Later kinds lie inside earlier ones.
_INSIDE = ("mapping", "stack", "thread-local", "static", "local", "heap")


@dataclass(frozen=True, order=True)
class Key:
    """An object or a place in the code, the same in both recordings.

    kind: ``static``, ``heap``, ``stacks``, ``thread-local``, ``section``, ``mapping`` or
        ``library data`` for objects; ``line`` or ``library`` for code.
    name: of the object, the function or the library.
    file: source file of a line.
    line: its number.
    """

    kind: str
    name: str
    file: str = ""
    line: int = 0


@dataclass
class Counts:
    """What a recording has for each object and each place in the code.

    objects, code: of each key an array of shape (5, 3): by part (own, sync, called, library,
        kernel) bytes read, bytes written and references. References to stacks, thread-local storage
        and what the compiler and the linker add are not counted for places in the code: hooks leave
        most of them out.
    threads: the number of threads.
    ended: the exit code, or the signal as in ``signal 6``.
    calls: how many instructions call hooks of the ``compiler`` and in the ``assembly``.
    """

    objects: dict[Key, NDArray[np.int64]] = field(default_factory=dict)
    code: dict[Key, NDArray[np.int64]] = field(default_factory=dict)
    threads: int = 0
    ended: str = ""
    calls: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Span:
    """Addresses of one object."""

    start: int
    end: int
    key: Key


@dataclass(frozen=True)
class _Code:
    """The instructions of a trace, sorted by program counter, and what they belong to.

    The last element of `kinds` and `keys` stands for instructions that are not listed.
    """

    counters: NDArray[np.uint64]
    kinds: NDArray[np.int8]
    keys: NDArray[np.int64]
    names: list[Key]


@dataclass(frozen=True)
class _Objects:
    """Addresses from `starts` on belong to the object of the same position, up to the next."""

    starts: NDArray[np.uint64]
    keys: NDArray[np.int64]
    names: list[Key]


@dataclass
class _Threads:
    """What each thread did last, from one batch to the next."""

    kind: NDArray[np.int8] = field(default_factory=lambda: np.full(_THREADS, _OTHER, np.int8))
    line: NDArray[np.int64] = field(default_factory=lambda: np.full(_THREADS, -1, np.int64))
    called: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(_THREADS, np.bool_))


def counted(
    path: Path, *, hooked: bool, by_site: bool, progress: Callable[[int, int | None], None]
) -> Counts:
    """Counts a recording.

    Args:
        path: the trace; the program that it names is read too, if it is still there.
        hooked: whether it was recorded with hooks, and not under emulation.
        by_site: whether blocks on the heap are told apart by the line that allocates them.
        progress: called with the references done and in all.

    Raises:
        TraceError: when the trace is damaged.
    """
    info = json.loads(_core.trace_info(str(path), lines=True))
    metadata = info["metadata"]
    modules = Modules(metadata)
    code = _code(metadata, modules, hooked=hooked)
    objects = _objects(metadata, modules, by_site=by_site)
    by_object = np.zeros(len(objects.names) * PARTS * COLUMNS)
    by_code = np.zeros(len(code.names) * PARTS * COLUMNS)
    aside = np.array([_is_aside(key) for key in objects.names])
    of_libraries = np.array([key.kind == "library data" for key in objects.names])
    threads = _Threads()
    done = 0
    used: list[NDArray[np.uint64]] = []
    present = [name for name in ("flags", "pc") if info["columns"][name]]
    absent = {"flags", "pc"} - {*present}
    for batch in _core.read_batches(str(path), ["thread", "kind", "addr", "size", *present]):
        batch |= {name: np.zeros(len(batch["kind"]), np.uint64) for name in absent}
        used.append(np.unique(batch["pc"]))
        keep = batch["kind"] != _FETCH
        columns = batch if keep.all() else {name: c[keep] for name, c in batch.items()}
        object_ = objects.keys[np.searchsorted(objects.starts, columns["addr"], "right") - 1]
        object_ = _private(object_, columns, objects)
        followed = None if hooked else _Followed(threads, of_libraries[object_])
        which, part = _attributed(columns, code, followed)
        _add(by_object, object_, part, columns)
        outside = ~aside[object_]
        _add(by_code, which[outside], part[outside], {n: c[outside] for n, c in columns.items()})
        done += len(keep)
        progress(done, info["references"])
    signal = metadata.get("exit_signal")
    return Counts(
        objects=_folded(_named(by_object, objects.names)),
        code=_named(by_code, code.names),
        threads=info["threads"],
        ended=f"signal {signal}" if signal else f"code {metadata.get('exit_code', 0)}",
        calls=modules.hooks(np.unique(np.concatenate(used))) if hooked and used else {},
    )


def _named(counts: NDArray[Any], names: list[Key]) -> dict[Key, NDArray[np.int64]]:
    shaped = counts.reshape(len(names), PARTS, COLUMNS).astype(np.int64)
    return {key: one for key, one in zip(names, shaped, strict=True) if one.any()}


def _is_aside(key: Key) -> bool:
    of_compilers = key.kind == "section" and key.name.startswith(OF_COMPILERS)
    return of_compilers or key.kind in (_STACKS, _TLS)


def _folded(objects: dict[Key, NDArray[np.int64]]) -> dict[Key, NDArray[np.int64]]:
    """Counts what only libraries touch, of what has no symbol, as data of libraries."""
    into = {
        "section": Key("library data", "the program's file"),
        _TLS: Key("library data", "threads"),
    }
    found: dict[Key, NDArray[np.int64]] = {}
    for key, counts in objects.items():
        chosen = key if counts[[OWN, SYNC, CALLED]].any() else into.get(key.kind, key)
        found[chosen] = found[chosen] + counts if chosen in found else counts
    return found


def _add(
    counts: NDArray[Any], index: NDArray[Any], part: NDArray[Any], columns: dict[str, NDArray[Any]]
) -> None:
    """Adds bytes read, bytes written and references, by index and part."""
    kind, cell = columns["kind"], (index * PARTS + part) * COLUMNS
    for column, kinds in ((READ_BYTES, (_READ, _ATOMIC)), (WRITTEN_BYTES, (_WRITE, _ATOMIC))):
        moves = (kind == kinds[0]) | (kind == kinds[1])
        counts += np.bincount(cell[moves] + column, columns["size"][moves], len(counts))
    counts += np.bincount(cell + REFERENCES, minlength=len(counts))


def _private(
    index: NDArray[Any], columns: dict[str, NDArray[Any]], objects: _Objects
) -> NDArray[Any]:
    """Moves private memory on the heap to thread-local storage.

    An emulator knows the first thread's storage as anonymous memory only.
    """
    heap, local = Key(_HEAP, _HEAP), Key(_TLS, "thread-local storage")
    if heap not in objects.names or local not in objects.names:
        return index
    private = (columns["flags"] & _PRIVATE_FLAG != 0) & (index == objects.names.index(heap))
    return np.where(private, objects.names.index(local), index)


@dataclass(frozen=True)
class _Followed:
    """What tells under emulation who called a function, and which references are its own.

    of_libraries: for every reference, whether it is to data of a library.
    """

    threads: _Threads
    of_libraries: NDArray[np.bool_]


def _attributed(
    columns: dict[str, NDArray[Any]], code: _Code, followed: _Followed | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The place in the code and the part of every reference."""
    place = np.searchsorted(code.counters, columns["pc"])
    place[place == len(code.counters)] = 0
    listed = code.counters[place] == columns["pc"] if len(code.counters) else place < 0
    place = np.where(listed, place, len(code.counters))
    kind, which = code.kinds[place], code.keys[place]
    synchronises = columns["flags"] & _SYNC_FLAG != 0
    by_kernel = columns["flags"] & _KERNEL_FLAGS != 0
    part = np.where(synchronises, SYNC, np.where(kind == _BLOCK, CALLED, OWN))
    if followed is not None:
        called = _callers(columns["thread"], kind, which, followed.threads)
        # memset looks up in the C library's own data how to proceed.
        direct = called.directly & (called.line >= 0) & ~followed.of_libraries
        # An emulator does not know which instruction made a system call.
        which = np.where(direct | (by_kernel & (called.line >= 0)), called.line, which)
        part = np.where(direct, CALLED, np.where(kind == _OWN_CODE, part, LIBRARY))
    part[by_kernel] = KERNEL
    return which, part


@dataclass(frozen=True)
class _Callers:
    """For every reference, who called the code that makes it.

    line: the place in the code of its thread's last own instruction; -1 before the first.
    directly: whether it is made by a function that hooks record at the call, called there.
    """

    line: NDArray[np.int64]
    directly: NDArray[np.bool_]


def _callers(
    thread: NDArray[Any], kind: NDArray[Any], which: NDArray[Any], threads: _Threads
) -> _Callers:
    """Follows each thread by its references.

    A call pushes the address to return to, so the reference before a function's first one says who
    called it. The dynamic linker is passed over: it comes between at the first call.
    """
    order = np.argsort(thread, kind="stable")
    thread, kind, which = thread[order], kind[order], which[order]
    first = np.r_[True, thread[1:] != thread[:-1]]
    position = np.arange(len(thread))
    start = np.maximum.accumulate(np.where(first, position, 0))

    def latest(chosen: NDArray[Any], values: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
        """The thread's value at its last chosen position, at or before each position."""
        at = np.maximum.accumulate(np.where(chosen, position, -1))
        return np.where(at >= start, values[np.maximum(at, 0)], before[thread])

    doing = latest(kind != _LINKER, kind, threads.kind)
    previous = np.where(first, threads.kind[thread], np.r_[doing[:1], doing[:-1]])
    line = latest(kind == _OWN_CODE, which, threads.line)
    begins = (kind == _BLOCK) & (previous != _BLOCK)
    by_own = (previous == _OWN_CODE) | (previous == _GLUE)
    called = latest(begins, by_own, threads.called)
    last = np.flatnonzero(np.r_[first[1:], True])
    threads.kind[thread[last]], threads.line[thread[last]] = doing[last], line[last]
    threads.called[thread[last]] = called[last]
    back = np.empty_like(order)
    back[order] = position
    return _Callers(line[back], (called & (kind == _BLOCK))[back])


def _code(metadata: dict[str, Any], modules: Modules, *, hooked: bool) -> _Code:
    lines = sorted(metadata.get("lines", []), key=lambda one: int(one["pc"]))
    names: dict[Key, int] = {}
    kinds, keys = [], []
    located = [modules.of(one["pc"]) for one in lines]
    has_lines = any(m == PROGRAM and one["file"] for m, one in zip(located, lines, strict=True))
    for module, one in zip(located, lines, strict=True):
        # Libraries that were built with hooks are the program's own, too.
        is_line = bool(one["file"]) and (hooked or module == PROGRAM)
        if is_line:
            key = Key("line", one["function"], one["file"], one["line"])
        else:
            key = Key("library", _WITHOUT_LINES if module == PROGRAM else module)
        # Without lines, the program's own code cannot be told from the linker's stubs.
        if is_line or (module == PROGRAM and not has_lines):
            at_call = hooked and modules.recorded_at_call(one["pc"])
            kinds.append(_BLOCK if at_call else _OWN_CODE)
        else:
            kinds.append(_kind_of_other(module, one["function"]))
        keys.append(names.setdefault(key, len(names)))
    kinds.append(_OTHER)
    keys.append(names.setdefault(Key("library", "code without a name"), len(names)))
    return _Code(
        counters=np.array([one["pc"] for one in lines], np.uint64),
        kinds=np.array(kinds, np.int8),
        keys=np.array(keys, np.int64),
        names=list(names),
    )


def _kind_of_other(module: str, function: str) -> int:
    if module.startswith(("ld-linux", "ld.so", "ld64")):
        return _LINKER
    if RECORDED_AT_CALL.fullmatch(function):
        return _BLOCK
    return _GLUE if module == PROGRAM and function.startswith("[") else _OTHER


def _objects(metadata: dict[str, Any], modules: Modules, *, by_site: bool) -> _Objects:
    """Draws the ranges over one another, the inner ones last."""
    sections = () if modules.image is None else modules.image.sections
    places = [Span(0, _TOP + 1, Key("mapping", "memory without a name"))]
    ranges = sorted(metadata.get("ranges", []), key=lambda r: _INSIDE.index(r["kind"]))
    outer = [r for r in ranges if r["kind"] == "mapping"]
    inner = [r for r in ranges if r["kind"] != "mapping"]
    frames = _sites(metadata) if by_site else {}
    places += [_place(one, modules, frames) for one in outer]
    places += [
        Span(modules.base + s.address, modules.base + s.address + s.size, Key("section", s.name))
        for s in sections
    ]
    places += [_place(one, modules, frames) for one in inner]
    names = {key: i for i, key in enumerate(dict.fromkeys(p.key for p in places))}
    names.setdefault(Key(_TLS, "thread-local storage"), len(names))
    ends = (bound for p in places for bound in (p.start, p.end) if bound <= _TOP)
    starts = np.unique(np.fromiter(ends, np.uint64))
    keys = np.zeros(len(starts), np.int64)
    for place in places:
        first = np.searchsorted(starts, np.uint64(place.start))
        last = None if place.end > _TOP else np.searchsorted(starts, np.uint64(place.end))
        keys[first:last] = names[place.key]
    return _Objects(starts, keys, list(names))


def _place(one: dict[str, Any], modules: Modules, sites: dict[int, str]) -> Span:
    """The object of a range of the metadata."""
    kind, name, start = one["kind"], one.get("name", ""), one["start"]
    module = modules.of(start)
    if kind in ("stack", "local"):
        key = Key(_STACKS, "stacks and local variables")
    elif kind == "thread-local":
        key = Key(_TLS, "thread-local storage")
    elif kind == "heap":
        key = Key(_HEAP, sites.get(one.get("stack", 0), _HEAP))
    elif kind == "mapping" and (not name or name == "[heap]"):
        key = Key(_HEAP, _HEAP)
    elif module == PROGRAM and kind == "static":
        key = Key("static", _NUMBERED.sub("", name))
    elif module == PROGRAM:
        key = Key("section", "other data of the program's file")
    elif kind == "static" or ".so" in Path(name).name:
        key = Key("library data", module or Path(name).name)
    else:
        key = Key("mapping", name)
    return Span(start, start + one["size"], key)


def _sites(metadata: dict[str, Any]) -> dict[int, str]:
    """The function and line that name the blocks of each call stack, counted from 1."""
    frames = metadata.get("frames", [])
    found = {}
    for number, stack in enumerate(metadata.get("stacks", []), 1):
        frame = frames[stack["frames"][stack.get("site", 0)]]
        function = frame["function"]
        file = Path(frame.get("file", "")).name
        found[number] = f"{file}:{frame['line']} ({function})" if file else function
    return found

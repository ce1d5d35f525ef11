"""Why a recording with hooks and one under emulation differ, as far as their counts show it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from homenode.capture.counting import (
    CALLED,
    COLUMNS,
    KERNEL,
    LIBRARY,
    OF_COMPILERS,
    OWN,
    PARTS,
    REFERENCES,
    SYNC,
    Counts,
    Key,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LIBRARY_CODE", "TOLERANCE", "Runs", "agree", "reason", "runs"]

# What two recordings may differ by and still agree, of the larger number.
TOLERANCE = 0.02

LIBRARY_CODE = "library code: hooks are in the program's own files only"
_KERNEL = "kernel"
_VECTORS = "vector width"
_STACKS = "stack of the compiler: spills and saved registers are not recorded with hooks"
_COPIES = (
    "copies by the library: its pieces overlap or pass the end, with hooks each byte counts once"
)
_TABLES = "literals and tables of the compiler and the linker are not recorded with hooks"
_LOCKS = "locks: with hooks the library's accesses count for the line that calls it"
_MISSED = "compiler's hooks miss it (build with HOMENODE_HOOKS=assembly)"
_REMOVED = "the optimised code makes fewer accesses than the compiler has put hooks at"
_MOVED = "the same bytes are at other lines of this function"
_REUSED = "another block was at the same addresses: all blocks together agree"
_UNKNOWN = "unknown"


# In the rows of these kinds all accesses by the program's own instructions have hooks, if they are
# in the assembly.
_HOOKED = frozenset(["line", "static", "heap"])


@dataclass(frozen=True)
class Runs:
    """What the two recordings as a whole say.

    another_run: how the two runs differ for certain, or empty.
    common: the number of lines that both have.
    alike: whether at least half of these, and one, agree in bytes read or written.
    hooks: ``compiler``, ``assembly``, ``both`` or empty.
    files: the source files that have references with hooks.
    all_hooked: whether these are all the files with source lines that were executed.
    functions: of each function and file, whether its lines together agree.
    heap: whether all blocks of the heap together agree.
    more: the most bytes, read and written, that a line has more under emulation.
    less: the most bytes that a line has less.
    """

    another_run: str
    common: int
    alike: bool
    hooks: str
    files: frozenset[str]
    all_hooked: bool
    functions: dict[tuple[str, str], bool]
    heap: bool
    more: NDArray[np.int64]
    less: NDArray[np.int64]


def agree(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether bytes read and bytes written differ by at most the tolerance.

    >>> agree(np.array([100, 0, 9]), np.array([98, 0, 3]))
    True
    >>> agree(np.array([100, 1, 9]), np.array([100, 0, 9]))
    False
    """
    return bool(_near(a, b)[:REFERENCES].all())


def _near(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray(np.abs(a - b) <= TOLERANCE * np.maximum(a, b))


def runs(hooks: Counts, emulated: Counts) -> Runs:
    """Finds out what holds for all rows."""
    another_run = ""
    if hooks.ended != emulated.ended:
        another_run = (
            f"another run: it ended with {hooks.ended}, under emulation with {emulated.ended}"
        )
    elif hooks.threads != emulated.threads:
        another_run = (
            f"another run: it had {hooks.threads} threads, under emulation {emulated.threads}"
        )
    kinds = [kind for kind, count in hooks.calls.items() if count]
    seen, made = ({k for k in c.code if k.kind == "line"} for c in (hooks, emulated))
    files = frozenset(key.file for key in seen)
    common = seen & made
    near = sum(_partly_agree(hooks.code[key][OWN], emulated.code[key][OWN]) for key in common)
    return Runs(
        another_run=another_run,
        common=len(common),
        alike=not another_run and bool(common) and 2 * near >= len(common),
        hooks="both" if len(kinds) > 1 else "".join(kinds),
        files=files,
        all_hooked=all(key.file in files for key in made),
        functions=_functions(seen | made, hooks, emulated),
        heap=agree(_of_heap(hooks), _of_heap(emulated)),
        more=_greatest(seen | made, hooks, emulated, 1),
        less=_greatest(seen | made, hooks, emulated, -1),
    )


def _functions(lines: set[Key], hooks: Counts, emulated: Counts) -> dict[tuple[str, str], bool]:
    sums: dict[tuple[str, str], list[NDArray[np.int64]]] = {}
    for key in lines:
        both = _of_line(key, hooks, emulated)
        so_far = sums.get((key.name, key.file), [np.zeros_like(one) for one in both])
        sums[key.name, key.file] = [a + b for a, b in zip(so_far, both, strict=True)]
    return {function: agree(*both) for function, both in sums.items()}


def _of_heap(counts: Counts) -> NDArray[np.int64]:
    """What the program's own code does to all blocks together."""
    blocks = (parts for key, parts in counts.objects.items() if key.kind == "heap")
    return sum((parts.sum(0) - parts[LIBRARY] for parts in blocks), np.zeros(COLUMNS, np.int64))


def _greatest(lines: set[Key], hooks: Counts, emulated: Counts, sign: int) -> NDArray[np.int64]:
    found = np.zeros(COLUMNS, np.int64)
    for key in lines:
        seen, made = _of_line(key, hooks, emulated)
        found = np.maximum(found, sign * (made - seen))
    return found


def _of_line(key: Key, hooks: Counts, emulated: Counts) -> list[NDArray[np.int64]]:
    """What the two recordings have for a line, without locks."""
    nothing = np.zeros((PARTS, COLUMNS), np.int64)
    seen, made = hooks.code.get(key, nothing), emulated.code.get(key, nothing)
    return [_beside_locks(seen, made), made.sum(0)]


def _beside_locks(hooks: NDArray[np.int64], emulated: NDArray[np.int64]) -> NDArray[np.int64]:
    """What hooks recorded but for locks.

    The program's own atomic operations would be seen under emulation, too.
    """
    whole = hooks.sum(0)
    return np.asarray(whole if emulated[SYNC].any() else whole - hooks[SYNC])


def _partly_agree(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Whether bytes read, or bytes written, agree and are not both 0."""
    return bool((_near(a, b) & (np.maximum(a, b) > 0))[:REFERENCES].any())


def reason(key: Key, hooks: NDArray[np.int64], emulated: NDArray[np.int64], whole: Runs) -> str:
    """Why a row differs: the first reason that its counts establish.

    Args:
        key: the object or the place in the code.
        hooks: its counts with hooks, an array of shape (5, 3) as in `Counts`.
        emulated: its counts under emulation, likewise.
        whole: what holds for all rows.

    Returns:
        The reason; empty if bytes and references agree, ``unknown`` if none is established. Rows
        whose bytes agree, but not the references, have ``vector width``.
    """
    seen, made = hooks.sum(0), emulated.sum(0)
    if agree(seen, made):
        return "" if _near(seen, made)[REFERENCES] else _VECTORS
    by_itself = made - emulated[LIBRARY]
    if agree(seen, by_itself):
        return LIBRARY_CODE
    found = _of_own_code(key, hooks, emulated, whole)
    return found if agree(made, by_itself) else f"{found}; and library code"


def _of_own_code(
    key: Key, hooks: NDArray[np.int64], emulated: NDArray[np.int64], whole: Runs
) -> str:
    """Why a row differs in what the program's own code does."""
    seen, made = hooks.sum(0), emulated.sum(0) - emulated[LIBRARY]
    if key.kind == "stacks" and not whole.another_run and (made >= seen).all():
        return _STACKS
    if agree(seen - hooks[KERNEL], made - emulated[KERNEL]):
        return _KERNEL
    beside_locks = _beside_locks(hooks, emulated)
    if agree(beside_locks, made):
        return _LOCKS
    copied = hooks[CALLED].any() and emulated[CALLED].any()
    if copied and agree(beside_locks - hooks[CALLED], made - emulated[CALLED]):
        return _COPIES
    few = bool((seen <= TOLERANCE * made).all())
    if key.kind == "section" and few and key.name.startswith(OF_COMPILERS):
        return _TABLES
    return whole.another_run or _of_hooks(key, beside_locks, made, whole)


def _of_hooks(key: Key, seen: NDArray[np.int64], made: NDArray[np.int64], whole: Runs) -> str:
    """What the hooks themselves explain, if both runs did the same."""
    if key.kind == "line" and key.file not in whole.files:
        return f"no hooks in {Path(key.file).name}"
    if key.kind == "heap" and whole.heap:
        return _REUSED
    established = whole.alike and whole.hooks == "compiler" and key.kind in _HOOKED
    return _of_compilers(key, seen, made, whole) if established else _UNKNOWN


def _of_compilers(key: Key, seen: NDArray[np.int64], made: NDArray[np.int64], whole: Runs) -> str:
    """What a compiler's hooks explain, which do not follow the machine code."""
    if key.kind == "line":
        if whole.functions[key.name, key.file]:
            return _MOVED
        if _may_have_moved(made - seen, whole.less) or _may_have_moved(seen - made, whole.more):
            return _UNKNOWN
    elif not whole.all_hooked:
        return _UNKNOWN
    if (made >= seen)[:REFERENCES].all():
        return _MISSED
    return _REMOVED if (made <= seen)[:REFERENCES].all() else _UNKNOWN


def _may_have_moved(excess: NDArray[np.int64], opposite: NDArray[np.int64]) -> bool:
    """Whether another line differs the other way: the two builds have line tables of their own."""
    moved = (excess > 0) & (opposite > TOLERANCE * excess)
    return bool(moved[:REFERENCES].any())

"""Small mixes of invented processes, for tests of a study that takes mixes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from homenode import _core

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Column = NDArray[np.uint64]

UTILITIES = ("ls", "awk", "cp", "gzip", "rm")
MIXES = {
    "ec": ["apache2"] * 13 + ["postgres"] * 8 + list(UTILITIES),
    "db": ["postgres"] * 21 + list(UTILITIES),
    "web": ["apache2"] * 26,
}
_FETCH, _READ, _WRITE = 3, 0, 1
_PRIVATE, _KERNEL = 1, 4
_TURN = 500
_PAGE = 4096
_KERNELS = 70 << 24


def make_mixes(folder: Path, references: int) -> Path:
    """Writes ``ec.hnt``, ``db.hnt`` and ``web.hnt`` of about `references` references each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, processes in MIXES.items():
        _make(folder / f"{name}.hnt", processes, references)
    return folder


def _make(path: Path, processes: list[str], references: int) -> None:
    each = references // len(processes)
    rng = np.random.default_rng(len(processes) + each)
    made = [_process(rng, name, number, each) for number, name in enumerate(processes)]
    turn = np.concatenate([np.arange(each) // _TURN for _ in made])
    thread = np.repeat(np.arange(len(made), dtype=np.uint16), each)
    order = np.lexsort((thread, turn))
    columns = {name: np.concatenate([part[name] for part in made])[order] for name in made[0]}
    writer = _core.TraceWriter(str(path), pid=True, flags=True)
    writer.push({"thread": thread[order], "pid": 100 + thread[order].astype(np.uint32), **columns})
    named = [{"pid": 100 + i, "names": ["init", name]} for i, name in enumerate(processes)]
    # The kernel's shared pages belong to sixteen processors.
    starts = [int(start) for start in _in_frames(_KERNELS + _PAGE * np.arange(16))]
    areas = {"size": _PAGE, "starts": starts}
    writer.finish(json.dumps({"program": "made", "processes": named, "processor_areas": areas}))


def _process(
    rng: np.random.Generator, name: str, number: int, count: int
) -> dict[str, NDArray[np.generic]]:
    """Bursts in user and kernel mode: code, private data, and shared data."""
    application = sum(name.encode()) % 64
    kernel = np.repeat(rng.random(count // 50 + 1) < 0.25, 50)[:count]
    fetch = rng.random(count) < 0.75
    where = rng.random(count)
    shares = 0.12 if name == "postgres" else 0.0
    shared = where < np.where(kernel, 0.4, shares)
    code = np.where(kernel, 1 << 24, (2 + application) << 24)
    code += _walk(rng, count, 96 * 1024)
    own = ((100 + number) << 22) + _near(rng, count, (40 if number % 13 else 200) * _PAGE)
    own = np.where(kernel, ((1000 + number) << 22) + _near(rng, count, 2 * _PAGE), own)
    together = np.where(kernel, _KERNELS, (80 + application) << 24)
    together += _near(rng, count, 64 * _PAGE)
    writes = rng.random(count) < 0.3
    address = _in_frames(np.where(fetch, code, np.where(shared, together, own)))
    return {
        "kind": np.where(fetch, _FETCH, np.where(writes, _WRITE, _READ)).astype(np.uint8),
        "addr": address,
        "size": np.full(count, 4, dtype=np.uint8),
        "flags": (np.where(kernel, _KERNEL, 0) + np.where(fetch | shared, 0, _PRIVATE)).astype(
            np.uint8
        ),
    }


def _in_frames(address: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Pages all over memory, so that caches see no pattern in them."""
    page, offset = address // _PAGE, address % _PAGE
    frame = (page * 0x9E3779B1) % (1 << 32) >> 10
    return (frame * _PAGE + offset).astype(np.uint64)


def _walk(rng: np.random.Generator, count: int, size: int) -> NDArray[np.int64]:
    """Instructions in sequence, with occasional jumps."""
    jumps = rng.random(count) < 0.1
    jumps[0] = True
    begins = np.maximum.accumulate(np.where(jumps, np.arange(count), 0))
    functions = (_near(rng, count, size) // 64) * 64
    return functions[begins] + 4 * (np.arange(count) - begins)


def _near(rng: np.random.Generator, count: int, size: int) -> NDArray[np.int64]:
    """Words, the first ones far more often."""
    return (size * rng.random(count) ** 6).astype(np.int64) // 4 * 4

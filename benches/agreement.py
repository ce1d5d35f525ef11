"""Compares the recordings of one program by the two ways of capture: `cc` and `qemu`.

Counted are references between the same two marks of the program, the end of its initialisation and
the beginning of its check, to shared data, not flagged as private or synchronisation, and only
those made by the workload's own source files, because QEMU also sees the libraries. It also sees
the program's constants (section .rodata), which are left out. For each way: loads and stores,
distinct words of 4 bytes that each thread touched, and blocks of 64 bytes by the number of threads
that touched them.

Run with `python benches/agreement.py gauss fft`; the sizes are those of `--quick`. With `--lines N`
it also prints the N source lines whose loads or stores differ most.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import homenode as hn
from homenode import _core, demo
from homenode_studies import workloads

if TYPE_CHECKING:
    from numpy.typing import NDArray

THREADS = 8
_PRIVATE_OR_SYNC = 3
_COLUMNS = ["thread", "kind", "addr", "size", "flags", "pc"]
# Programs and their headers; those of the demonstration are part of homenode.
_SOURCES = (workloads.FOLDER, demo.programs.FOLDER)

Lines = dict[tuple[str, int], tuple[int, int]]


@dataclass(frozen=True)
class Seen:
    """The recording of one way of capture."""

    reads: int
    writes: int
    words: list[int]
    sharers: list[int]
    lines: Lines
    """Loads and stores of each line of the program's own source."""


def main() -> None:
    """Prints two rows per workload."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads; all of them by default")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="lines that differ most")
    options = parser.parse_args()
    names = options.names or [entry.name for entry in workloads.TABLE]
    head = f"{'program':<18}{'via':<6}{'reads':>10}{'writes':>10}{'words a thread':>22}"
    print(f"{head}  blocks by sharers 1, 2, 3-7, 8")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            by_cc, by_qemu = compare(name, Path(folder))
            if options.lines:
                print_lines(by_cc.lines, by_qemu.lines, options.lines)


def compare(name: str, folder: Path) -> tuple[Seen, Seen]:
    arguments = ["-p", str(THREADS), "--quick"]
    traced = workloads.build(name, folder / f"{name}.traced", "homenode")
    native = workloads.build(name, folder / f"{name}.native", flags=(*workloads.FLAGS, "-g"))
    by_cc = _between_marks(hn.Trace.record([str(traced), *arguments], folder / "cc.hnt"))
    by_qemu = _between_marks(
        hn.Trace.record([str(native), *arguments], folder / "qemu.hnt", via="qemu")
    )
    both = look(by_cc, traced), look(by_qemu, native)
    for via, seen in zip(("cc", "qemu"), both, strict=True):
        few, most = min(seen.words), max(seen.words)
        one, two, full = seen.sharers[1], seen.sharers[2], seen.sharers[THREADS]
        some = sum(seen.sharers[3:THREADS])
        print(
            f"{name:<18}{via:<6}{seen.reads:>10}{seen.writes:>10}{f'{few} to {most}':>22}"
            f"  {one}, {two}, {some}, {full}",
            flush=True,
        )
    return both


def print_lines(by_cc: Lines, by_qemu: Lines, count: int) -> None:
    """The lines on which the two ways disagree: loads and stores of each, and the source."""
    nothing = (0, 0)
    rows = [
        (place, by_cc.get(place, nothing), by_qemu.get(place, nothing))
        for place in sorted(by_cc.keys() | by_qemu.keys())
    ]
    rows.sort(key=lambda row: -sum(abs(a - b) for a, b in zip(row[1], row[2], strict=True)))
    for (file, number), cc, qemu in rows[:count]:
        if cc == qemu:
            break
        text = Path(file).read_text().splitlines()[number - 1].strip()
        print(
            f"{number:>5}  cc {cc[0]:>7} {cc[1]:>7}  qemu {qemu[0]:>7} {qemu[1]:>7}  {text}",
            flush=True,
        )


def _between_marks(trace: hn.Trace) -> hn.Trace:
    """The part between the end of the initialisation and the beginning of the check."""
    out = trace.path.with_suffix(".part.hnt")
    out.unlink(missing_ok=True)
    return hn.transform("select", trace, out, from_="init-done", until="marker:check")


def _columns(trace: hn.Trace) -> dict[str, NDArray[Any]]:
    batches = list(_core.read_batches(str(trace.path), _COLUMNS))
    return {name: np.concatenate([b[name] for b in batches]) for name in _COLUMNS}


def _constants(trace: hn.Trace, program: Path, code: int) -> tuple[int, int]:
    """First address and size of the constants of the program with code at `code`."""
    symbols = {
        words[2]: int(words[0], 16)
        for words in (line.split() for line in _said("nm", str(program)).splitlines())
        if len(words) == 3
    }
    objects = [
        r for r in trace.metadata["ranges"] if r["kind"] == "static" and r["name"] in symbols
    ]
    nearest = min(objects, key=lambda r: abs(r["start"] - code))
    base = nearest["start"] - symbols[nearest["name"]]
    sections = _said("readelf", "-SW", str(program)).splitlines()
    words = next(line for line in sections if ".rodata" in line).split("]")[1].split()
    return base + int(words[2], 16), int(words[4], 16)


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def look(trace: hn.Trace, program: Path) -> Seen:
    """The shared-data references of a trace that a workload's own code made."""
    own = {
        line["pc"]: (line["file"], line["line"])
        for line in trace.metadata["lines"]
        if Path(line["file"]).parent in _SOURCES
    }
    start, length = _constants(trace, program, min(own))
    all_of = _columns(trace)
    chosen = (all_of["flags"] & _PRIVATE_OR_SYNC == 0) & np.isin(
        all_of["pc"], np.array(list(own), np.uint64)
    )
    chosen &= (all_of["addr"] < start) | (all_of["addr"] >= start + length)
    thread, kind, addr, size = (all_of[name][chosen] for name in _COLUMNS[:4])
    counts: Lines = {}
    for pc, (reads, others) in zip(*_counted(all_of["pc"][chosen], kind), strict=True):
        before = counts.get(own[pc], (0, 0))
        counts[own[pc]] = (before[0] + reads, before[1] + others)
    # Every word that a reference covers, beginning with its first.
    covered = [(thread, addr >> 2)]
    for offset in range(4, 64, 4):
        longer = (addr & ~np.uint64(3)) + np.uint64(offset) < addr + size
        covered.append((thread[longer], (addr[longer] >> 2) + np.uint64(offset // 4)))
    pairs = np.stack(
        [np.concatenate([t for t, _ in covered]), np.concatenate([w for _, w in covered])], axis=1
    ).astype(np.uint64)
    words = np.unique(pairs, axis=0)
    blocks = np.unique(np.stack([words[:, 0], words[:, 1] >> np.uint64(4)], axis=1), axis=0)
    sharers = np.unique(blocks[:, 1], return_counts=True)[1]
    return Seen(
        reads=int((kind == 0).sum()),
        writes=int((kind != 0).sum()),
        words=np.bincount(words[:, 0].astype(np.int64), minlength=THREADS).tolist(),
        sharers=np.bincount(sharers, minlength=THREADS + 1).tolist(),
        lines=counts,
    )


def _counted(pc: NDArray[Any], kind: NDArray[Any]) -> tuple[list[int], list[tuple[int, int]]]:
    """The numbers of loads and of other references by program counter."""
    found, place = np.unique(pc, return_inverse=True)
    reads, others = (
        np.bincount(place[chosen], minlength=len(found)).tolist()
        for chosen in (kind == 0, kind != 0)
    )
    return found.tolist(), list(zip(reads, others, strict=True))


if __name__ == "__main__":
    main()

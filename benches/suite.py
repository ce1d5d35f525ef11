"""Records every workload by both ways of capture, and measures the recordings.

It records all programs with 8 threads in their default sizes (`--set default`), and those of the
studies of Markatos, Marchetti and Talbot with 64 threads in their sizes (`--set markatos` and so
on); without `--set` all of these. For each program and way it prints references, private
references, bytes per reference with program counters and without (of the first hundred million),
million references a second of the recording, the largest process's memory, and whether output and
exit code were the same as natively. The table is Markdown, as in docs/captures.md; each trace is
removed after it has been measured.

Run with `nice python benches/suite.py`, which takes an hour, or `python benches/suite.py gauss`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from running import RECORD, run

import homenode as hn
from homenode_studies import workloads
from homenode_studies.workloads.measure import without_pc

THREADS = 8
VIAS = ("cc", "qemu")
BARE = 100_000_000
STUDIES = ("markatos", "marchetti", "talbot")
HEADINGS = (
    *("program", "threads", "via", "references", "private", "bytes/ref", "without pc"),
    *("Mref/s", "peak MB", "result"),
)


@dataclass(frozen=True)
class Run:
    name: str
    threads: int
    quantum: int
    arguments: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        return ["-p", str(self.threads), *self.arguments]


@dataclass(frozen=True)
class Seen:
    """The measurements of one recording."""

    references: int
    private: int
    bytes_with: float
    bytes_without: float
    per_second: float
    peak_mb: float
    same: bool


def main() -> None:
    """Prints a table for each set of sizes, and the means over its programs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads; all of them by default")
    parser.add_argument("--set", action="append", choices=["default", "quick", *STUDIES])
    parser.add_argument("--via", action="append", choices=VIAS)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for sizes in options.set or ["default", *STUDIES]:
            chosen = [r for r in runs(sizes) if not options.names or r.name in options.names]
            if chosen:
                failed |= not table(sizes, chosen, options.via or VIAS, Path(folder))
    sys.exit("the output of some programs differed from the native one" if failed else 0)


def runs(sizes: str) -> list[Run]:
    """Every program that has sizes of this name, with its arguments."""
    if sizes in STUDIES:
        found = [(name, workloads.find(name).size(sizes)) for name in workloads.with_size(sizes)]
        return [Run(name, size.threads, size.quantum, size.arguments) for name, size in found]
    return [
        Run(entry.name, THREADS, 100, entry.quick if sizes == "quick" else entry.arguments)
        for entry in workloads.TABLE
    ]


def table(sizes: str, chosen: list[Run], vias: tuple[str, ...], folder: Path) -> bool:
    """Records the programs and prints the table; returns whether all outputs were as natively."""
    begin = time.perf_counter()
    print(f"\n{sizes} sizes; load of the machine {os.getloadavg()[0]:.1f} at the beginning\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    rows: dict[str, list[Seen]] = {via: [] for via in vias}
    for one in chosen:
        for via in vias:
            seen = record(one, via, folder)
            rows[via].append(seen)
            cells = (
                *(one.name, str(one.threads), via, f"{seen.references:,}", f"{seen.private:,}"),
                *(f"{seen.bytes_with:.3f}", f"{seen.bytes_without:.3f}"),
                *(f"{seen.per_second / 1e6:.1f}", f"{seen.peak_mb:.0f}"),
                "same" if seen.same else "DIFFERS",
            )
            print(f"| {' | '.join(cells)} |", flush=True)
    for via, found in rows.items():
        bytes_with, bytes_without = (
            sum(getattr(seen, field) for seen in found) / len(found)
            for field in ("bytes_with", "bytes_without")
        )
        references = sum(seen.references for seen in found)
        print(
            f"\n{via}: {len(found)} programs, {references:,} references, mean of the programs "
            f"{bytes_with:.3f} bytes a reference with program counters, {bytes_without:.3f} without"
        )
    minutes = (time.perf_counter() - begin) / 60
    print(f"\n{minutes:.0f} minutes, load {os.getloadavg()[0]:.1f} at the end", flush=True)
    return all(seen.same for found in rows.values() for seen in found)


def record(one: Run, via: str, folder: Path) -> Seen:
    native = workloads.build(one.name, folder / f"{one.name}.native")
    program = native
    if via == "cc":
        program = workloads.build(one.name, folder / f"{one.name}.traced", "homenode")
    says = subprocess.run(
        [str(native), *one.words], capture_output=True, text=True, check=True
    ).stdout
    path = folder / "t.hnt"
    options = ["--via", via, "--quantum", str(one.quantum), "-o", str(path)]
    cost = run([*RECORD, *options, "--", str(program), *one.words])
    trace = hn.Trace.open(path)
    # The program's output went to standard error, after the summary.
    same = says in cost.messages and cost.summary["exit_code"] == 0
    seen = Seen(
        references=trace.references,
        private=trace.info["private"],
        bytes_with=trace.bytes_per_reference,
        bytes_without=without_pc(trace, BARE).bytes_per_reference,
        per_second=trace.references / cost.summary["wall_time_s"],
        peak_mb=cost.peak_mb,
        same=same,
    )
    for leftover in (path, native, program):
        leftover.unlink(missing_ok=True)
    return seen


if __name__ == "__main__":
    main()

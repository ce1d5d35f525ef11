"""Measures the speed of capture in millions of references a second, with goals and old figures.

It measures the encoder on one core, with repetitive and random streams, and recording in every
order, by `homenode cc` and in QEMU: the median of some programs with 8 threads, each the median of
several runs. Next to the speed are the voluntary context switches of all involved threads per
thousand references, which are more reliable than seconds on a busy machine. Old figures are those
of a74ee81, which had no logical order and no row-wise encoder; a dash means not measured.

Run with `make bench`, or `python benches/capture.py --runs 1 gauss`. Unless programs are named, it
also sorts 81 MB in QEMU, which takes more than a minute. `--hooks` compares the kinds of hooks by
processor time, also on a busy machine, with turns of `--quantum` references.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from running import RECORD, row, run

from homenode_studies import workloads

THREADS = "8"
# Large enough that the start of a program is negligible: 8 to 40 million references each.
PROGRAMS = {
    "gauss": ["-n", "320"],
    "sorbyr": ["-n", "400", "-i", "40"],
    "fft1d": ["-n", "262144"],
    "ocean-contig": ["-n", "66", "-i", "4"],
    "water-nsq": ["-n", "216", "-i", "4"],
    "barnes": ["-n", "2048", "-i", "1"],
    "p-qsort": [],
}
HOOKS = ("compiler", "assembly")
SLOW_RUNS = 1
SORT_LINES = 2_454_545  # of 33 bytes: about the 2.52 billion references of the old figure
ENCODER = ["cargo", "bench", "--quiet", "-p", "homenode-trace"]


@dataclass(frozen=True)
class Way:
    """A way to record, with its old figure and its goal, in millions of references a second."""

    name: str
    options: tuple[str, ...]
    old: float | None = None
    goal: float | None = None
    slow: bool = False

    @property
    def via_qemu(self) -> bool:
        """Whether it records unmodified programs."""
        return "--via=qemu" in self.options


WAYS = (
    Way("`cc`, deterministic, quantum 100", (), 16, 80),
    Way("`cc`, deterministic, quantum 1,000", ("--quantum=1000",), 28),
    Way("`cc`, deterministic, quantum 1", ("--quantum=1",), None, 40, slow=True),
    Way("`cc`, logical, quantum 1", ("--order=logical", "--quantum=1"), None, 40),
    Way("`cc`, logical, quantum 100", ("--order=logical",), None, 80),
    Way("`cc`, logical, quantum 1,000", ("--order=logical", "--quantum=1000")),
    Way("`cc`, free", ("--order=free",), 18),
    Way("`qemu`, deterministic, quantum 100", ("--via=qemu",), 20, 40),
)


@dataclass(frozen=True)
class Recording:
    """Medians of one program's recordings."""

    references: int
    wall_s: float
    switches: float
    bytes_per_reference: float


def main() -> None:
    """Prints one table, in Markdown, and the load of the machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"workloads; by default {', '.join(PROGRAMS)}")
    parser.add_argument("--runs", type=int, default=3, help="runs; the median is taken")
    parser.add_argument("--hooks", action="store_true", help="compare the kinds of hooks only")
    parser.add_argument("--quantum", type=int, default=100, help="with --hooks")
    options = parser.parse_args()
    names = options.names or list(PROGRAMS)
    if options.hooks:
        compare_hooks(names, options.runs, options.quantum)
        return
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the beginning\n")
    measured = encoder()
    row("", "old", "goal", "now", "least", "most", "switches / 1,000", "bytes/ref")
    print(f"|---|{'---:|' * 7}", flush=True)
    tell_encoder(measured)
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            runs = SLOW_RUNS if way.slow else options.runs
            tell(way, [record(name, way, Path(folder), runs) for name in names])
        if not options.names:
            sort(Path(folder))
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


def compare_hooks(names: list[str], runs: int, quantum: int) -> None:
    """Prints processor time per reference, of program and recorder together, for each kind."""
    row("", *(f"{what}, {kind}" for what in ("references", "ns each") for kind in HOOKS), "change")
    print(f"|---|{'---:|' * 5}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            pairs = []
            for kind in HOOKS:
                os.environ["HOMENODE_HOOKS"] = kind
                program = workloads.build(name, Path(folder) / f"{name}.{kind}", "homenode")
                arguments = ["-p", THREADS, *PROGRAMS.get(name, [])]
                way = [f"--quantum={quantum}", "-o", f"{folder}/t.hnt"]
                command = [*RECORD, *way, "--", str(program), *arguments]
                costs = [run(command) for _ in range(runs)]
                references = costs[0].summary["references"]
                # What a busy machine adds is never negative.
                pairs.append((references, 1e9 * min(cost.cpu_s for cost in costs) / references))
            change = f"{100 * (pairs[1][1] / pairs[0][1] - 1):+.0f} %"
            counts = [f"{references:,}" for references, _ in pairs]
            row(name, *counts, *(f"{nanoseconds:.1f}" for _, nanoseconds in pairs), change)


def encoder() -> list[dict[str, Any]]:
    """Runs the trace store's bench, and prints its table."""
    lines = subprocess.run(ENCODER, capture_output=True, text=True, check=True).stdout.splitlines()
    print("\n".join(lines), end="\n\n")
    return [json.loads(line) for line in lines if line.startswith("{")]


def tell_encoder(found: list[dict[str, Any]]) -> None:
    """Two rows of the table: streams without program counters."""
    for what, old, goal, name in (
        ("encoder, regular", 35.0, 150.0, "matrix-sweep"),
        ("encoder, random", 13.0, 60.0, "random"),
    ):
        line = next(one for one in found if one["trace"] == name and not one["pc"])
        speed = line["references"] / line["encode_s"] / 1e6
        size = line["bytes"] / line["references"]
        row(what, figure(old), figure(goal), figure(speed), "", "", "", f"{size:.3f}")


def record(name: str, way: Way, folder: Path, runs: int) -> Recording:
    """One program, recorded in one way."""
    compiler = "cc" if way.via_qemu else "homenode"
    program = workloads.build(name, folder / f"{name}.{compiler}", compiler)
    arguments = ["-p", THREADS, *PROGRAMS.get(name, [])]
    command = [*RECORD, *way.options, "-o", str(folder / "t.hnt"), "--", str(program), *arguments]
    costs = [run(command) for _ in range(runs)]
    summary = costs[0].summary
    references = summary["references"]
    return Recording(
        references,
        statistics.median(cost.summary["wall_time_s"] for cost in costs),
        statistics.median(cost.sleeps for cost in costs),
        summary["bytes"] / max(references, 1),
    )


def tell(way: Way, recordings: list[Recording]) -> None:
    """A row of the table: medians over the programs, and the extremes of the speed."""
    speeds = [one.references / one.wall_s / 1e6 for one in recordings]
    switches = statistics.median(1000 * one.switches / one.references for one in recordings)
    size = statistics.median(one.bytes_per_reference for one in recordings)
    extremes = (figure(min(speeds)), figure(max(speeds)))
    now = figure(statistics.median(speeds))
    row(
        way.name,
        figure(way.old),
        figure(way.goal),
        now,
        *extremes,
        f"{switches:.2f}",
        f"{size:.3f}",
    )


def sort(folder: Path) -> None:
    """Debian's sort of 81 MB by their bytes, whose goal is in seconds."""
    digits = np.random.default_rng(1).bytes(16 * SORT_LINES).hex()
    lines = folder / "lines"
    lines.write_text("".join(f"{digits[at : at + 32]}\n" for at in range(0, len(digits), 32)))
    os.environ["LC_ALL"] = "C"
    command = [*RECORD, "--via=qemu", "-o", str(folder / "t.hnt"), "--"]
    cost = run([*command, "sort", "--parallel=4", "-S", "60M", "-o", os.devnull, str(lines)])
    seconds = cost.summary["wall_time_s"]
    references = cost.summary["references"]
    row(
        f"`sort` of 81 MB in `qemu`, {references / 1e9:.2f} G references",
        "280 s",
        "90 s",
        f"{seconds:.0f} s",
        "",
        "",
        f"{1000 * cost.sleeps / references:.2f}",
        f"{cost.summary['bytes'] / references:.3f}",
    )


def figure(speed: float | None) -> str:
    """Millions of references a second, or a dash."""
    if speed is None:
        return "-"
    return f"{speed:.2f}" if speed < 1 else f"{speed:.1f}" if speed < 100 else f"{speed:.0f}"


if __name__ == "__main__":
    main()

"""Measures homenode as its users do: whole processes, side by side with a plain loop and others.

Two traces of four threads. `mm54` is a product of matrices of 300 x 300 doubles, where the threads
make a step of the inner loop in turn. `syn50` is random: 70 % of references are private, 25 % to a
shared MiB, 4 % read and write records that migrate, and 1 % are to own words of shared lines. The
third, of two references, shows what start-up takes. The plain loop (`peers/plain.c`) is what one
writes in an hour. Its counts, those of homenode and those of other coherent simulators must be
equal, or the bench fails: references, misses, misses of writes, and invalidations.

Runs alternate; figures are medians, and memory is the most of any run, at least the 14 MB of the
process that starts it. Ratios are those of the time for a reference to that of the plain loop.

Run with `make bench`, or `python benches/side_by_side.py --scale 0.01` for seconds. Peers come from
registries into a temporary folder unless `--no-peers` is given. `--homenode OLD/.venv/bin/homenode`
measures a second build too. `--json` prints JSON instead of a table in Markdown.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peers import contestants, traces
from peers.contestants import Contestant, Missing
from peers.traces import Input
from running import Cost, row, run

HOMENODE = [sys.executable, "-m", "homenode"]
TITLES = (
    *("trace", "program", "references", "misses", "processor s", "wall s", "peak MB"),
    *("processor / plain", "wall / plain", "goals"),
)


@dataclass
class Figures:
    """The runs of a program on a trace."""

    contestant: Contestant
    trace: Input
    runs: list[Cost] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """What it counted."""
        return self.contestant.counts(self.runs[0])

    @property
    def cpu_s(self) -> float:
        """The median of processor seconds."""
        return statistics.median(cost.cpu_s for cost in self.runs)

    @property
    def wall_s(self) -> float:
        """The median of wall seconds."""
        return statistics.median(cost.wall_s for cost in self.runs)

    def summary(self, plain: "Figures") -> dict[str, Any]:
        """What is told of it."""
        counts = self.counts
        share = plain.counts["references"] / counts["references"]
        of_plain = self.trace.goal.cpu_s is None
        return {
            "trace": self.trace.name,
            "program": self.contestant.name,
            **counts,
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "peak_mb": max(cost.peak_mb for cost in self.runs),
            "cpu_ratio": share * self.cpu_s / plain.cpu_s if of_plain else None,
            "wall_ratio": share * self.wall_s / plain.wall_s if of_plain else None,
            "goal": str(self.trace.goal) if self.contestant.is_homenode else None,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="runs; the median is taken")
    parser.add_argument("--scale", type=float, default=1.0, help="of the traces; 1: 54 and 50 M")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="folder that keeps the traces")
    parser.add_argument("--homenode", metavar="COMMAND", help="another build to measure too")
    parser.add_argument("--no-peers", action="store_true", help="homenode and the plain loop only")
    parser.add_argument("--multicachesim", type=Path, metavar="DIR", help="source, to measure it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    # A user's Python keeps compiled modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        kept: Path = options.traces or folder
        kept.mkdir(parents=True, exist_ok=True)
        programs = all_programs(folder, options)
        inputs = traces.make(kept, traces.compiled("generate.c", folder), options.scale)
        rows = []
        problems = []
        for trace in inputs:
            measured = measure(trace, programs, options.runs)
            rows += told(trace, measured, programs)
            problems += differences(measured)
    if options.json:
        print(json.dumps({"processors": os.cpu_count(), "load": load, "rows": rows}, indent=2))
    else:
        tell(rows, programs, load)
    if problems:
        sys.exit("\n".join(problems))


def all_programs(folder: Path, options: argparse.Namespace) -> list[Contestant | Missing]:
    """The plain loop first, then this build."""
    found: list[Contestant | Missing] = [
        contestants.plain(folder),
        contestants.homenode(HOMENODE, "homenode"),
    ]
    if options.homenode:
        found.append(contestants.homenode([options.homenode], f"homenode, `{options.homenode}`"))
    return found if options.no_peers else found + contestants.peers(folder, options.multicachesim)


def measure(trace: Input, programs: list[Contestant | Missing], runs: int) -> list[Figures]:
    """Runs the programs alternately.

    If there are several runs, each is first run without measuring, so that files are in memory.
    """
    measured = [
        Figures(one, trace)
        for one in programs
        if isinstance(one, Contestant)
        and one.command(trace) is not None
        and (one.coherent or trace.goal.cpu_s is None)
    ]
    unmeasured = int(runs > 1)
    for number in range(unmeasured + runs):
        for figures in measured:
            cost = run(figures.contestant.command(trace) or [])
            if number >= unmeasured:
                figures.runs.append(cost)
    return measured


def told(
    trace: Input, measured: list[Figures], programs: list[Contestant | Missing]
) -> list[dict[str, Any]]:
    """The rows of a trace, also for what cannot be measured."""
    rows = [figures.summary(measured[0]) for figures in measured]
    if trace.goal.cpu_s is not None:
        return rows
    missing = [one for one in programs if isinstance(one, Missing)]
    return rows + [
        {"trace": trace.name, "program": one.name, "missing": one.reason} for one in missing
    ]


def differences(measured: list[Figures]) -> list[str]:
    """Counts in which coherent simulators differ from the plain loop."""
    plain = measured[0].counts
    return [
        f"{figures.trace.name}, {figures.contestant.name}: {count:,} {name.replace('_', ' ')}, "
        f"but {plain[name]:,} in the plain loop"
        for figures in measured
        if figures.contestant.coherent
        for name, count in figures.counts.items()
        if count != plain[name]
    ]


def tell(rows: list[dict[str, Any]], programs: list[Contestant | Missing], load: float) -> None:
    print(f"{os.cpu_count()} processors, load {load:.1f} at the beginning\n")
    row(*TITLES)
    print(f"|---|---|{'---:|' * (len(TITLES) - 2)}")
    for line in rows:
        if "missing" in line:
            row(line["trace"], f"{line['program']}: {line['missing']}", *[""] * (len(TITLES) - 2))
            continue
        row(
            line["trace"],
            line["program"],
            f"{line['references']:,}",
            f"{line['misses']:,}",
            f"{line['cpu_s']:.3f}",
            f"{line['wall_s']:.3f}",
            f"{line['peak_mb']:.0f}",
            *(
                "" if line[key] is None else f"{line[key]:.2f}"
                for key in ("cpu_ratio", "wall_ratio")
            ),
            line["goal"] or "",
        )
    print()
    for one in programs:
        if isinstance(one, Contestant):
            print(f"* {one.name}: {one.simulates}.")
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()

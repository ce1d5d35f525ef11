"""Measures the clock of machines with a directory on the programs of Marchetti et al.

Each program in the paper's size with 64 threads, on `dash-mesh` under `dash` and `lrc`, with pages
dealt out in turn: million references a second of one core's time, decoding included, the median of
three runs, and the memory of a process that does nothing else. The table is Markdown, as in
docs/directory.md.

Run with `python benches/directory.py`, or with `--traces DIR` to keep the recordings, which take
some minutes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from running import run

PROGRAMS = ("sor", "mgrid", "mp3d", "water-nsq", "appbt")
PROTOCOLS = ("dash", "lrc")
SIZE = "marchetti"
RUNS = 3
HOMENODE = (sys.executable, "-m", "homenode")
# What it takes to start is not of the clock.
TIMED = """
import json, sys, time
import homenode as hn
trace, protocol = sys.argv[1:]
start = time.process_time()
options = {"machines": "dash-mesh", "homes": "round-robin", "threads": 1}
row = hn.simulate_directory(trace, protocol, **options).rows[0]
seconds = time.process_time() - start
print(json.dumps({"references": row["references"], "seconds": seconds}))
"""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=PROGRAMS, help="workloads")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="where recordings are kept")
    options = parser.parse_args()
    print("| program | references | protocol | million a second | MB |")
    print(f"|{'---|' * 5}")
    with tempfile.TemporaryDirectory() as folder:
        kept = options.traces or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for name in options.names:
            trace = recorded(name, kept)
            for protocol in PROTOCOLS:
                print(measured(name, trace, protocol), flush=True)


def recorded(name: str, folder: Path) -> Path:
    """The trace of a program, recorded unless it is there."""
    trace = folder / f"{name}.hnt"
    if not trace.exists():
        run([*HOMENODE, "workloads", "record", name, "--size", SIZE, "-o", str(folder)])
    return trace


def measured(name: str, trace: Path, protocol: str) -> str:
    """A row of the table."""
    runs = [run([sys.executable, "-c", TIMED, str(trace), protocol]) for _ in range(RUNS)]
    references = runs[0].summary["references"]
    rate = references / statistics.median(run.summary["seconds"] for run in runs) / 1e6
    peak = max(run.peak_mb for run in runs)
    return f"| {name} | {references:,} | `{protocol}` | {rate:.1f} | {peak:.0f} |"


if __name__ == "__main__":
    main()

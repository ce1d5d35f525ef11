"""Measures machines with a directory on the programs of Marchetti et al.

It simulates each program in the paper's size with 64 threads on `dash-mesh`: with a clock under
`dash` and `lrc`, with round-robin homes, and in the order of the trace under `dash`, with four
policies of homes that share a decoding. It prints million references per second of one core for
each configuration, including decoding, as the median of three runs, and the memory of a process
that does nothing else. The table is Markdown, as in docs/directory.md.

Run with `python benches/directory.py`, or with `--traces DIR` to keep the recordings, which take
some minutes.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from running import run

PROGRAMS = ("sor", "mgrid", "mp3d", "water-nsq", "appbt")
# Protocol, order and homes.
MEASURED = (
    ("dash", "clock", "round-robin"),
    ("lrc", "clock", "round-robin"),
    ("dash", "trace", "round-robin,random,first-touch,first-use"),
)
SIZE = "marchetti"
RUNS = 3
HOMENODE = (sys.executable, "-m", "homenode")
# Start-up is not measured: the first simulation does the imports.
TIMED = """
import json, sys, time
import homenode as hn
trace, protocol, order, homes = sys.argv[1:]
options = {"machines": "dash-mesh", "homes": homes, "order": order, "threads": 1}
hn.simulate(hn.synthetic("t-s", references=64), protocols=protocol, **options)
start = time.process_time()
rows = hn.simulate(trace, protocols=protocol, **options).rows
seconds = (time.process_time() - start) / len(rows)
print(json.dumps({"references": rows[0]["references"], "seconds": seconds}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=PROGRAMS, help="workloads")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="folder of recordings")
    options = parser.parse_args()
    print("| program | references | protocol | order | million a second | MB |")
    print(f"|{'---|' * 6}")
    with tempfile.TemporaryDirectory() as folder:
        kept = options.traces or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for name in options.names:
            trace = recorded(name, kept)
            for which in MEASURED:
                print(measured(name, trace, which), flush=True)


def recorded(name: str, folder: Path) -> Path:
    """The trace of a program, recorded unless it exists."""
    trace = folder / f"{name}.hnt"
    if not trace.exists():
        run([*HOMENODE, "workloads", "record", name, "--size", SIZE, "-o", str(folder)])
    return trace


def measured(name: str, trace: Path, which: tuple[str, str, str]) -> str:
    protocol, order, _ = which
    runs = [run([sys.executable, "-c", TIMED, str(trace), *which]) for _ in range(RUNS)]
    references = runs[0].summary["references"]
    rate = references / statistics.median(run.summary["seconds"] for run in runs) / 1e6
    peak = max(run.peak_mb for run in runs)
    return f"| {name} | {references:,} | `{protocol}` | {order} | {rate:.1f} | {peak:.0f} |"


if __name__ == "__main__":
    main()

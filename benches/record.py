"""Measures recording: speed relative to the native run, bytes per reference, and peak memory.

Every workload is built twice, natively (`cc -O2`) and with `homenode cc`, at the size of the
publication that names it, and recorded with 8 threads. The native time is the median of several
runs of the native build, so the slowdown is the user's, including instrumentation.

Run with `make bench`, or `python benches/record.py gauss fft --quantum 1000`.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from running import RECORD, run

from homenode_studies import workloads

NATIVE_RUNS = 5
THREADS = "8"


def main() -> None:
    """Prints a table, and one JSON line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="workloads; all of them by default")
    parser.add_argument("--quantum", type=int, action="append", help="default: 100 and 1000")
    parser.add_argument("--order", default="deterministic", choices=["deterministic", "free"])
    options = parser.parse_args()
    names = options.names or [entry.name for entry in workloads.TABLE]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for quantum in options.quantum or [100, 1000]:
                rows.append(measure(name, Path(folder), quantum, options.order))
                print(json.dumps(rows[-1]), flush=True)
    head = f"{'program':<15}{'quantum':>8}{'Mref':>8}{'Mref/s':>8}{'slowdown':>10}"
    print(f"{head}{'B/ref':>8}{'peak MB':>9}")
    for row in rows:
        print(
            f"{row['program']:<15}{row['quantum']:>8}{row['references'] / 1e6:>8.1f}"
            f"{row['references'] / row['wall_s'] / 1e6:>8.1f}{row['slowdown']:>10.1f}"
            f"{row['bytes_per_reference']:>8.3f}{row['peak_mb']:>9.0f}"
        )
    total = sum(row["bytes_per_reference"] for row in rows) / len(rows)
    print(f"mean of the programs: {total:.3f} bytes a reference, program counters included")


def measure(name: str, folder: Path, quantum: int, order: str) -> dict[str, Any]:
    """One workload at one quantum."""
    native = workloads.build(name, folder / f"{name}.native")
    traced = workloads.build(name, folder / f"{name}.traced", "homenode")
    arguments = ["-p", THREADS, *workloads.find(name).arguments]
    native_s = statistics.median(run([str(native), *arguments]).wall_s for _ in range(NATIVE_RUNS))
    trace = folder / f"{name}.hnt"
    command = [*RECORD, "-o", str(trace), "--quantum", str(quantum), "--order", order]
    cost = run([*command, "--", str(traced), *arguments])
    summary = cost.summary
    return {
        "program": name,
        "quantum": quantum,
        "order": order,
        "references": summary["references"],
        "wall_s": summary["wall_time_s"],
        "native_s": native_s,
        "slowdown": summary["wall_time_s"] / native_s,
        "bytes_per_reference": trace.stat().st_size / max(summary["references"], 1),
        "peak_mb": cost.peak_mb,
    }


if __name__ == "__main__":
    main()

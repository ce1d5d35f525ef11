"""Measures the recording of unmodified programs, with Valgrind's lackey as the peer.

Every workload is run with 8 threads in every way there is: natively, in QEMU without homenode, by
lackey (`--trace-mem=yes`, its text thrown away), and recorded with `--via qemu` in both orders and
with `--via cc`. Next to the wall time stands the processor time of everything that took part, which
a busy machine does not change as much; references a second are of wall time.

Run with `python benches/qemu.py fft gauss`; sizes are those of `--quick` unless `--full` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from homenode import workloads

THREADS = "8"
RECORD = [sys.executable, "-m", "homenode", "record", "--json", "-o"]


def main() -> None:
    """Prints a row a workload and way, as a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["fft", "gauss"], help="workloads")
    parser.add_argument("--full", action="store_true", help="the publications' sizes")
    options = parser.parse_args()
    head = f"{'program':<12}{'how':<18}{'wall s':>8}{'cpu s':>8}{'Mref':>8}{'Mref/s':>8}"
    print(f"{head}{'slowdown':>10}{'B/ref':>8}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names:
            measure(name, Path(folder), options.full)


def measure(name: str, folder: Path, full: bool) -> None:
    """One workload, in every way."""
    native = workloads.build(name, folder / f"{name}.native")
    traced = workloads.build(name, folder / f"{name}.traced", "homenode")
    size = workloads.find(name).arguments if full else ["--quick"]
    program, instrumented = ([str(path), "-p", THREADS, *size] for path in (native, traced))
    trace = folder / f"{name}.hnt"
    ways = {
        "native": program,
        "qemu": ["qemu-x86_64", *program],
        "via qemu, baton": [*RECORD, str(trace), "--via", "qemu", "--", *program],
        "via qemu, free": [*RECORD, str(trace), "--via=qemu", "--order=free", "--", *program],
        "via cc, baton": [*RECORD, str(trace), "--", *instrumented],
    }
    if shutil.which("valgrind"):
        peer = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"]
        ways["lackey"] = [*peer, *program]
    native_s = 0.0
    for how, command in ways.items():
        wall_s, cpu_s, peak_mb, output = run(command)
        native_s = native_s or wall_s
        references = bytes_each = 0.0
        if "--json" in command:
            summary = json.loads(output[output.index("{") :])
            references, wall_s = summary["references"], summary["wall_time_s"]
            bytes_each = summary["bytes"] / references
        print(
            f"{name:<12}{how:<18}{wall_s:>8.2f}{cpu_s:>8.2f}{references / 1e6:>8.1f}"
            f"{references / wall_s / 1e6:>8.1f}{wall_s / native_s:>10.0f}{bytes_each:>8.3f}"
            f"{peak_mb:>9.0f}",
            flush=True,
        )


def run(command: list[str]) -> tuple[float, float, float, str]:
    """Wall seconds, processor seconds, peak MB of the largest process, and standard output."""
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        output = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{output}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - begin, cpu_s, usage.ru_maxrss / 1024, output


if __name__ == "__main__":
    main()

"""Compares the recording of a whole system with the same system in QEMU without homenode.

    python benches/systems/measure.py vmlinuz pg.gz --memory 1024

The system must print lines "work begins" and "work ends" around its work between the marks, as that
of postgresql.sh does: the time of the work is the time between them, on this machine's clock;
processor seconds are those of the whole run. A system in plain QEMU has no /homenode/mark, and says
so. Runs alternate. Memory is the peak of the recorder (VmHWM) and that of QEMU, sampled ten times a
second, without shared mappings (RssShmem), which are the guest's memory and the ring.
"""

import argparse
import contextlib
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import homenode as hn

_OWN = ("RssAnon", "RssFile")


@dataclass
class Run:
    """The measurements of one run."""

    wall_s: float = 0.0
    work_s: float = 0.0
    cpu_s: float = 0.0
    references: int = 0
    peaks_mb: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Prints the runs, and their medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernel")
    parser.add_argument("initramfs")
    parser.add_argument("--processors", default="4")
    parser.add_argument("--memory", default="512", metavar="MIB")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.2f}, {os.cpu_count()} processors")
    plain, recorded = [], []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "t.hnt"
        for _ in range(options.repeat):
            plain.append(run(in_qemu(options)))
            recorded.append(run(recording(options, trace)))
            recorded[-1].references = hn.Trace.open(trace).references
    print("| | wall s | processor s | work s | million references | a second | peak MB |")
    print("|---|---|---|---|---|---|---|")
    for name, runs in (("QEMU", plain), ("recorded", recorded)):
        for one in runs:
            print(row(name, one))
    work = [[one.work_s for one in runs] for runs in (plain, recorded)]
    slower = statistics.median(work[1]) / statistics.median(work[0])
    speeds = [one.references / one.work_s / 1e6 for one in recorded]
    print(f"median {statistics.median(speeds):.1f} million references a second", end="")
    print(f" ({min(speeds):.1f} to {max(speeds):.1f}), {slower:.1f} times as long as in QEMU")


def row(name: str, one: Run) -> str:
    peaks = ", ".join(f"{what} {peak:.0f}" for what, peak in sorted(one.peaks_mb.items()))
    millions = one.references / 1e6
    return (
        f"| {name} | {one.wall_s:.1f} | {one.cpu_s:.1f} | {one.work_s:.1f} | {millions:.1f} | "
        f"{millions / one.work_s:.1f} | {peaks} |"
    )


def in_qemu(options: argparse.Namespace) -> list[str]:
    """The machine as homenode starts it, without its plugin."""
    memory = f"{options.memory}M"
    return [
        *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-seed", "1"),
        *("-display", "none", "-serial", "stdio", "-accel", "tcg,thread=single"),
        *("-machine", "pc,memory-backend=ram", "-m", memory, "-smp", options.processors),
        *("-object", f"memory-backend-memfd,id=ram,share=on,size={memory}"),
        *("-kernel", options.kernel, "-initrd", options.initramfs),
        *("-append", "console=ttyS0 nokaslr panic=-1"),
    ]


def recording(options: argparse.Namespace, trace: Path) -> list[str]:
    """Records the same system."""
    return [
        *(sys.executable, "-m", "homenode", "record", "--via", "qemu-system", "-o", str(trace)),
        *("--kernel", options.kernel, "--initramfs", options.initramfs),
        *("--memory", options.memory, "--processors", options.processors),
    ]


def run(command: list[str]) -> Run:
    """Runs a command to its end, watching its console and its memory."""
    begin, used = time.perf_counter(), processor_seconds()
    one, marks = Run(), dict[str, float]()
    console = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    watcher = threading.Thread(target=watch, args=(console, one.peaks_mb))
    watcher.start()
    said = []
    for line in console.stdout or ():
        said.append(line.decode(errors="replace"))
        if found := re.match(r"work (begins|ends)", said[-1]):
            marks[found[1]] = time.perf_counter()
    watcher.join()
    if console.wait() != 0 or len(marks) != 2:
        sys.exit("".join(said[-20:]))
    one.wall_s = time.perf_counter() - begin
    one.work_s = marks["ends"] - marks["begins"]
    one.cpu_s = processor_seconds() - used
    return one


def processor_seconds() -> float:
    """The processor time of all finished children and their descendants."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def watch(process: subprocess.Popen[bytes], peaks_mb: dict[str, float]) -> None:
    """Records the peaks of the process and its child, by name."""
    while process.poll() is None:
        for pid in [process.pid, *children(process.pid)]:
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{pid}/status").read_text()
                kb = dict(re.findall(r"^(\w+):\s+(\w+)", status, re.MULTILINE))
                name = "qemu" if kb["Name"].startswith("qemu") else "recorder"
                parts = _OWN if name == "qemu" else ("VmHWM",)
                peak = sum(int(kb.get(part, 0)) for part in parts) / 1024
                peaks_mb[name] = max(peaks_mb.get(name, 0.0), peak)
        time.sleep(0.1)


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(word) for word in text.split()]
    return []


if __name__ == "__main__":
    main()

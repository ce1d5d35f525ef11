"""Compares both ways of recording with the native run and with Valgrind's lackey.

It runs programs of the package, with 8 threads, and Debian's sort with 4: each natively, in QEMU
without homenode, recorded with `--via qemu` and `--via cc` in both orders, and by lackey
(`--trace-mem=yes`, discarding its text). Times are medians of several runs, but of one run for
lackey, because it is slow; lackey's speed counts the references that QEMU sees. Next to the wall
time is the processor time of all involved processes, which depends less on the load of the machine;
memory is that of the largest process. Sizes are such that QEMU sees 20 to 50 million references.

Run with `python benches/qemu.py`, which takes a quarter of an hour, or name programs; `--full`
takes the publications' sizes. `python benches/qemu.py --memory` only records 100 million and more.
"""

import argparse
import os
import shutil
import statistics
import tempfile
from pathlib import Path

from running import RECORD, Cost, row, run, write_numbers

from homenode_studies import workloads

THREADS = "8"
SIZES = {
    "fft1d": ["-n", "65536"],
    "ocean-contig": ["-n", "66", "-i", "2"],
    "barnes": ["-n", "1024", "-i", "1"],
    "mp3d": ["-n", "10000", "-i", "40"],
    "sorbyr": ["-n", "406", "-i", "20"],
    "gauss": ["-n", "320"],
}
SORT = ["sort", "--parallel=4", "-S", "60M"]
LINES, MANY_LINES = 20_000, 270_000
LARGE = "gauss"
HEADINGS = (
    *("program", "how", "wall s", "cpu s", "references", "Mref/s", "slowdown", "bytes/ref"),
    "peak MB",
)


def main() -> None:
    """Prints a row per program and way, as a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[*SIZES, "sort"], help="workloads, or sort")
    parser.add_argument("--runs", type=int, default=3, help="runs; the median is taken")
    parser.add_argument("--full", action="store_true", help="the publications' sizes")
    parser.add_argument("--memory", action="store_true", help="100 million references, both ways")
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the beginning\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if options.memory:
            large(Path(folder))
        else:
            short(
                {
                    name: measure(name, ways(name, Path(folder), options.full), options.runs)
                    for name in options.names
                }
            )
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


def ways(name: str, folder: Path, full: bool) -> dict[str, list[str]]:
    """The command of each way to run a program."""
    trace = str(folder / "t.hnt")
    recorded = [*RECORD, "-o", trace]
    if name == "sort":
        program, instrumented = [*SORT, str(write_numbers(folder / "lines", LINES))], None
    else:
        size = workloads.find(name).arguments if full else SIZES.get(name, ["--quick"])
        instrumented = [built(name, folder, "homenode"), "-p", THREADS, *size]
        program = [built(name, folder, "cc"), *instrumented[1:]]
    found = {
        "native": program,
        "QEMU alone": ["qemu-x86_64", shutil.which(program[0]) or program[0], *program[1:]],
        "`--via qemu`": [*recorded, "--via=qemu", "--", *program],
        "`--via qemu --order free`": [*recorded, "--via=qemu", "--order=free", "--", *program],
    }
    if instrumented:
        found["`--via cc`"] = [*recorded, "--", *instrumented]
        found["`--via cc --order free`"] = [*recorded, "--order=free", "--", *instrumented]
    if shutil.which("valgrind"):
        peer = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"]
        found["lackey"] = [*peer, *program]
    return found


def measure(name: str, commands: dict[str, list[str]], runs: int) -> dict[str, str]:
    """Runs one program in every way; returns the wall times and the speeds of recordings."""
    native_s = 0.0
    by_qemu = 0
    found = {}
    for how, command in commands.items():
        costs = [run(command) for _ in range(1 if how == "lackey" else runs)]
        wall_s = statistics.median(wall(cost, command) for cost in costs)
        native_s = native_s or wall_s
        references, size = counted(costs[-1], command)
        if how == "`--via qemu`":
            by_qemu = references
        if how == "lackey":
            references = by_qemu
        row(
            *(name, how, f"{wall_s:.2f}", f"{statistics.median(c.cpu_s for c in costs):.2f}"),
            f"{references:,}" if references else "",
            f"{references / wall_s / 1e6:.1f}" if references else "",
            f"{wall_s / native_s:.0f}",
            f"{size / references:.3f}" if size else "",
            f"{max(cost.peak_mb for cost in costs):.0f}",
        )
        speed = f" ({references / wall_s / 1e6:.1f})" if references else ""
        found[how] = f"{wall_s:.2f}{speed}"
    return found


def short(found: dict[str, dict[str, str]]) -> None:
    """Prints a row per program: seconds, and in brackets million references a second."""
    names = list(dict.fromkeys(how for ways in found.values() for how in ways))
    print(f"\n| program | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for name, ways in found.items():
        print(f"| {name} | {' | '.join(ways.get(how, '') for how in names)} |")


def large(folder: Path) -> None:
    """Measures the memory of recordings of more than 100 million references."""
    threads = ["-p", THREADS, *workloads.find(LARGE).arguments]
    for name, how, options, program in (
        (LARGE, "`--via cc`", [], [built(LARGE, folder, "homenode"), *threads]),
        (LARGE, "`--via qemu`", ["--via=qemu"], [built(LARGE, folder, "cc"), *threads]),
        (
            "sort",
            "`--via qemu`",
            ["--via=qemu"],
            [*SORT, str(write_numbers(folder / "lines", MANY_LINES))],
        ),
    ):
        command = [*RECORD, "-o", str(folder / "t.hnt"), *options, "--", *program]
        cost = run(command)
        (references, size), wall_s = counted(cost, command), wall(cost, command)
        speed = f"{references / wall_s / 1e6:.1f}"
        row(
            *(name, how, f"{wall_s:.2f}", f"{cost.cpu_s:.2f}", f"{references:,}", speed),
            *("", f"{size / references:.3f}", f"{cost.peak_mb:.0f}"),
        )


def wall(cost: Cost, command: list[str]) -> float:
    """Wall seconds: of a recording, from the program's start to the end of the trace."""
    return float(cost.summary["wall_time_s"]) if "--json" in command else cost.wall_s


def counted(cost: Cost, command: list[str]) -> tuple[int, int]:
    """References and bytes of a recording; empty for other commands."""
    if "--json" not in command:
        return 0, 0
    return int(cost.summary["references"]), int(cost.summary["bytes"])


def built(name: str, folder: Path, compiler: str) -> str:
    chosen = "homenode" if compiler == "homenode" else "cc"
    return str(workloads.build(name, folder / f"{name}.{compiler}", chosen))


if __name__ == "__main__":
    main()

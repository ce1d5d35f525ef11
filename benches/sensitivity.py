"""Measures how results depend on the order of the threads, for docs/sensitivity.md.

Eight programs with 8 threads: five recordings with a quantum of 100 (turns of exactly 100, and of
random lengths with four seeds), and four orders made from the first. For each of these two sets it
prints the results of `homenode sensitivity` on `numa` with pages of 4 KB and on `cc+` with lines of
64 bytes.

Run with `python benches/sensitivity.py --svg docs/sensitivity.svg`; the table is Markdown.
"""

import argparse
import tempfile
from pathlib import Path

import matplotlib as mpl

import homenode as hn
from homenode.results.plot import spread_of_orders
from homenode_studies import workloads

PROGRAMS = ("p-qsort", "sorbyc", "cholesky", "mp3d", "chip", "weather", "work-queue", "barnes")
USUAL_SIZE = ("p-qsort",)
POLICIES = "optimal,delay,platinum,migrate,first-touch"
POINTS = (("numa", 4096), ("cc+", 64))
RECORDINGS = 5
MADE = 4


def main() -> None:
    """Prints a table for each machine, and draws the recorded orders."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=PROGRAMS, help="workloads")
    parser.add_argument("--svg", metavar="FILE", help="file for the picture")
    options = parser.parse_args()
    found = {name: orders_of(name) for name in options.names}
    for machine, size in POINTS:
        print(f"\n`{machine}`, {size}-byte blocks:\n")
        names = POLICIES.split(",")
        print(f"| program | references | orders | {' | '.join(names)} | least tau |")
        print(f"|{'---|' * (len(names) + 4)}")
        for name, (recorded, made) in found.items():
            references = f"{recorded.orders[0]['references']:,}"
            print(f"| `{name}` | {references} | recorded | {cells(recorded, machine)} |")
            print(f"|  |  | made | {cells(made, machine)} |")
    if options.svg:
        figure = spread_of_orders({name: recorded for name, (recorded, _) in found.items()})
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "homenode"}):
            figure.savefig(options.svg, metadata={"Date": None})


def orders_of(name: str) -> tuple[hn.SensitivityResult, hn.SensitivityResult]:
    """Results of a program's recordings, and of orders made from the first of them."""
    machines, sizes = [machine for machine, _ in POINTS], [size for _, size in POINTS]
    entry = workloads.find(name)
    words = entry.arguments if name in USUAL_SIZE else entry.quick
    with tempfile.TemporaryDirectory() as folder:
        program = workloads.build(name, Path(folder) / name, "homenode")
        traces = [
            hn.Trace.record(
                [str(program), "-p", "8", *words], Path(folder) / f"{seed}.hnt", seed=seed
            )
            for seed in range(RECORDINGS)
        ]
        recorded = hn.sensitivity(traces, machines, POLICIES, sizes)
        made = hn.sensitivity(traces[0], machines, POLICIES, sizes, reinterleave=MADE)
    for result in (recorded, made):
        wanted = [row for row in result.rows if (row["machine"], row["block_size"]) in POINTS]
        result.rows[:] = wanted
    return recorded, made


def cells(result: hn.SensitivityResult, machine: str) -> str:
    """The spreads under the policies in per cent, and the least tau."""
    spreads = [f"{100 * row['spread']:.1f}" for row in result.rows if row["machine"] == machine]
    size = dict(POINTS)[machine]
    [point] = [p for p in result.rankings if (p["machine"], p["block_size"]) == (machine, size)]
    return " | ".join([*spreads, f"{point['tau_min']:.1f}"])


if __name__ == "__main__":
    main()

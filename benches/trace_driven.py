"""Compares simulation driven by a trace with simulation driven by the program.

Each program in its small size with 8 threads, on a bus, a mesh and nodes with controllers: recorded
in turns of a hundred references and replayed, and run under the machine itself (`homenode run`).
The trace-driven error is the excess of the replay's cycles over those of the run: in the replay,
the behaviour of threads was determined by the recording's turns, and not by the machine's waits.
The table is Markdown, as in docs/run.md.

Run with `python benches/trace_driven.py [NAME...]`.
"""

import argparse
import json
import sys
import tempfile

from running import run

PROGRAMS = ("work-queue", "p-qsort", "plytrace", "mp3d", "barnes", "gauss", "sor")
# The columns of each machine.
MACHINES = {
    "bus-smp": ["--machine", "bus-smp", "--protocol", "mesi"],
    "dash-mesh": ["--machine", "dash-mesh", "--protocol", "dash", "--home", "first-touch"],
    "alite": ["--machine", "alite", "--protocol", "sdd", "--home", "first-touch"],
}
THREADS = "8"
HOMENODE = (sys.executable, "-m", "homenode")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=PROGRAMS, help="workloads")
    parser.add_argument("--slack", metavar="CYCLES", help="of the runs; default: the machine's")
    options = parser.parse_args()
    slack = [] if options.slack is None else ["--slack", options.slack]
    print("| program | references | " + " | ".join(MACHINES) + " |")
    print(f"|---|---:|{'---:|' * len(MACHINES)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names:
            size = ["--quick", "--threads", THREADS, "-o", folder]
            run([*HOMENODE, "workloads", "record", *size, name])
            trace = f"{folder}/{name}.hnt"
            info = run([*HOMENODE, "info", "--json", trace]).summary
            command = [info["metadata"]["program"], *info["metadata"]["arguments"]]
            cells = []
            for machine in MACHINES.values():
                options = [*machine, "--processors", THREADS, "--json"]
                (replayed,) = json.loads(run([*HOMENODE, "simulate", *options, trace]).output)
                done = run([*HOMENODE, "run", *options, *slack, "--", *command])
                (directed,) = json.loads(done.output)
                cells.append(f"{100 * (replayed['cycles'] / directed['cycles'] - 1):+.1f} %")
            print("| " + " | ".join((name, f"{info['references']:,}", *cells)) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Records installed programs of Debian, and finds the objects and lines whose sharing costs most.

pigz, xz, sort, zstd, python3 and ffmpeg, each with four workers or more, on inputs made here:
every program is run natively and recorded twice with `--via qemu`. Its output must be the same all
three times, and the two traces must have the same bytes. It then compares the policies with the
optimum on a machine with cache lines (`cc+`, 64 bytes) and on one with pages (`numa`, 4 KB), and
lists the shared blocks with most misses. The tables are Markdown, as in docs/real-programs.md.

Run with `python benches/debian.py`, or `python benches/debian.py pigz sort --keep FOLDER` to look
at the traces afterwards. Needs the programs' packages; libc6-dbg and python3.11-dbg give names.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from running import RECORD, run, write_numbers

import homenode as hn

MACHINES = (("cc+", 64), ("numa", 4096))
POLICIES = "optimal,ace,delay,platinum,migrate,first-touch,best-static"
LICENCES = Path("/usr/share/common-licenses")
WORDS = """\
import threading
words = open("text").read().split()
start, lock, totals = threading.Barrier(4), threading.Lock(), {}
def count(k):
    start.wait()
    for word in words[k * len(words) // 4 : (k + 1) * len(words) // 4]:
        with lock:
            totals[word] = totals.get(word, 0) + 1
threads = [threading.Thread(target=count, args=(k,)) for k in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:5])
"""
_ENCODE = (
    "ffmpeg -hide_banner -nostdin -v error -f lavfi -i testsrc=size=320x240:rate=10:duration=0.4 "
    "-c:v libx264 -preset ultrafast -threads 4 -fflags +bitexact -flags +bitexact -f h264 -"
)
PROGRAMS = {
    "pigz": "pigz -c -k -p 4 -b 64 text",
    "xz": "xz -0 -T4 --block-size=100000 -c text",
    "sort": "sort --parallel=4 -S 60M lines",
    "zstd": "zstd -q -c -T4 -1 -B512K long",
    "python3": "/usr/bin/python3.11 -I words.py",
    "ffmpeg": _ENCODE,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"{', '.join(PROGRAMS)}; all by default")
    parser.add_argument("--keep", metavar="FOLDER", help="folder in which the traces are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(options.keep or folder)
        place.mkdir(exist_ok=True)
        os.chdir(place)
        os.environ["LC_ALL"] = "C"
        inputs()
        for name in options.names or PROGRAMS:
            if shutil.which(PROGRAMS[name].split()[0]) is None:
                print(f"\n{name}: not installed")
                continue
            recorded = record(name)
            simulate(recorded)
            sharing(recorded)
            if not options.keep:
                recorded.path.unlink()


def inputs() -> None:
    """Writes the programs' inputs, the same on every Debian of one release."""
    text = b"".join(path.read_bytes() for path in sorted(LICENCES.iterdir()))
    Path("text").write_bytes(2 * text)
    Path("long").write_bytes(14 * text)
    write_numbers(Path("lines"), 300_000)
    Path("words.py").write_text(WORDS)


def record(name: str) -> hn.Trace:
    """Records a program twice, and compares outputs and traces."""
    command = PROGRAMS[name].split()
    native = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    first, again = Path(f"{name}.hnt"), Path(f"{name}.again.hnt")
    costs = [run([*RECORD, "--via=qemu", f"-o{path}", "--", *command]) for path in (again, first)]
    cost = costs[-1]
    trace = hn.Trace.open(first)
    same = all(cost.said == native for cost in costs)
    twice = filecmp.cmp(first, again, shallow=False)
    again.unlink()
    print(f"\n## {name}\n\n`{PROGRAMS[name]}`\n\n{trace.references:,} references, ", end="")
    print(f"{trace.info['private']:,} private, {trace.threads} threads at a time, ", end="")
    print(f"{trace.references / cost.summary['wall_time_s'] / 1e6:.1f} million a second, ", end="")
    print(f"{trace.bytes_per_reference:.3f} bytes each, {cost.peak_mb:.0f} MB; ", end="")
    print(f"result {'the same' if same else 'DIFFERS'}, ", end="")
    print(f"two recordings {'the same' if twice else 'DIFFER'}\n", flush=True)
    return trace


def simulate(trace: hn.Trace) -> None:
    """The policies compared with the optimum."""
    rows = []
    for machine, size in MACHINES:
        found = hn.simulate(trace, machine, POLICIES, [size])
        rows.append([f"{machine}, {size} bytes", *(f"{row['mcpr']:.3f}" for row in found.rows)])
    names = POLICIES.split(",")
    print(f"| machine | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def sharing(trace: hn.Trace, count: int = 8) -> None:
    """The cache lines with the highest cost, and the source lines that cause it."""
    found = hn.sharing(trace, "cc+", [64], detail=64, count=count)
    if found.detail is None:
        return
    print("| block | processors | false | true | contents |\n|---|---|---|---|---|")
    for block in found.detail["blocks"]:
        misses = block["misses"]
        parts = ", ".join(f"{o['label']} +{o['offsets'][0]}" for o in block["objects"])
        print(
            f"| {block['address']} | {len(block['processors'])} | {misses['false_sharing']:,} | "
            f"{misses['true_sharing']:,} | {parts} |"
        )
    print("\n| function | line | false | inflicted | true |\n|---|---|---|---|---|")
    for line in found.detail["lines"]:
        misses = line["misses"]
        where = f"{Path(line['file']).name}:{line['line']}" if line["file"] else ""
        print(
            f"| `{line['function']}` | {where} | {misses['false_sharing']:,} | "
            f"{misses['inflicted']:,} | {misses['true_sharing']:,} |"
        )
    print(flush=True)


if __name__ == "__main__":
    main()

"""Writes the output of every command into a folder, to compare two versions byte by byte.

To check a change that must not change results:

    python benches/results.py before --homenode OLD/.venv/bin/homenode
    python benches/results.py after --homenode .venv/bin/homenode --inputs before/inputs
    python benches/results.py after --compare before

Inputs are recorded once and used by both. ``--quick`` leaves out the studies. Existing results are
not computed again, so an interrupted run can be resumed.
"""

import argparse
import filecmp
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TABLES = (
    "machines policies page-policies protocols examples workloads studies synthetic tlbs "
    "transforms formats"
).split()
PROGRAMS = ("fft", "p-qsort", "sorbyr", "water-nsq", "weather")
DRIVEN = "p-qsort"
MIXES = ("ec", "db", "web")
HOMES = "round-robin,random,first-touch,first-use,first-fill:n=4,best-static,optimal-static"
PROXIES = "none,basic,reactive,reactive:allocate=no"
COPIES = ("--protocol", "lrc", "--replication", "counter:n=8")
PROTOCOLS = "mesi,moesi,dragon,amsd,pscr,pscr:private_kernel=yes"
STUDIES = (
    "bolosky-ch3 bolosky-ch4 bolosky-ch5 bolosky-ch6 bolosky-ch7 markatos foglia marchetti talbot"
).split()


def main() -> int:
    """Runs all commands, or compares two folders; exits with 1 if they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the results")
    parser.add_argument("--homenode", default="homenode", help="the command to run")
    parser.add_argument("--inputs", type=Path, help="traces of an earlier run")
    parser.add_argument("--compare", type=Path, metavar="BEFORE", help="compare with these results")
    parser.add_argument("--quick", action="store_true", help="leave out the studies")
    parser.add_argument("--only", default="", help="only results whose name contains this")
    options = parser.parse_args()
    if options.compare is not None:
        return compare(options.compare, options.folder)
    folder: Path = options.folder.resolve()
    homenode = str(Path(options.homenode).resolve()) if "/" in options.homenode else "homenode"
    inputs = folder / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    if not inputs.exists():
        if options.inputs:
            shutil.copytree(options.inputs, inputs)
        else:
            record(homenode, inputs)
    jobs = [job for job in all_jobs(folder) if options.only in job[0]]
    for number, (name, words) in enumerate(jobs):
        kept = (folder / f"{name}.txt").exists() and not options.only
        if kept or (options.quick and words[0] == "study"):
            continue
        print(f"{number + 1}/{len(jobs)} {name}", file=sys.stderr, flush=True)
        run(homenode, folder, name, words)
    return 0


def record(homenode: str, inputs: Path) -> None:
    """Records small programs, compiles one to be driven, and copies the package's small mixes.

    Every command and option is run on them; the studies have results of larger programs.
    """
    into = ["--quick", "-o", str(inputs)]
    subprocess.run([homenode, "workloads", "record", *PROGRAMS, *into], check=True)
    subprocess.run([homenode, "workloads", "build", DRIVEN, "-o", str(inputs)], check=True)
    studies = Path(__file__).parent.parent / "reproduction/python/homenode_studies"
    mixes = studies / "workloads/ecommerce"
    for mix in MIXES:
        shutil.copy(mixes / f"{mix}.hnt", inputs)


def all_jobs(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and words of every command. Files that a command writes go to ``files``."""
    (folder / "files").mkdir(exist_ok=True)
    yield "pmap-table", ["pmap", "--table", "--json"]
    for table in TABLES:
        yield f"list-{table}", ["list", table, "--json"]
    yield "list-machines-sizes", ["list", "machines", "--block-size", "64,1K,4K"]
    yield "check-protocol", ["check-protocol", "--json"]
    yield "explain-all", ["explain", "--all", "--json"]
    yield "explain-text", ["explain", "--all"]
    yield "explain-html", ["explain", "--all", "--html", "files/explain.html"]
    yield "alphabeta", ["alphabeta", "--published", "--json"]
    for shape in ("t-f", "t-s", "t-gamma"):
        yield f"synthetic-{shape}", ["synthetic", shape, "-o", f"files/{shape}.hnt"]
    for name in PROGRAMS:
        yield from of_program(name)
    for name in ("fft", "p-qsort", *MIXES):
        yield from on_a_bus(name)
        yield from on_links(name)
        yield from with_a_directory(name)
    yield from walks()
    yield from run_live()
    for name in STUDIES:
        yield (
            f"study-{name}",
            [
                *("study", name, "--quick", "--json", "-o", "files/studies"),
                *("--traces", "inputs/studies"),
            ],
        )


def of_program(name: str) -> Iterator[tuple[str, list[str]]]:
    """The commands on a program's trace."""
    trace = f"inputs/{name}.hnt"
    machines = ",".join(priced_machines())
    alike = ["--processors", "8", "--filter", "none"]
    priced = ["simulate", trace, "--machine", machines, *alike]
    yield f"{name}-info", ["info", trace, "--json"]
    for sizes in ("64", "1K,4K"):
        size = ["--block-size", sizes]
        yield f"{name}-simulate-{sizes}", [*priced, *size, "--json"]
        yield f"{name}-optimal-{sizes}", ["optimal", trace, *size, "--certify", "--json"]
        yield f"{name}-sharing-{sizes}", ["sharing", trace, *size, "--json"]
        yield (
            f"{name}-markatos-{sizes}",
            [
                *("simulate", trace, "--machine", "markatos", *size, "--realign", "--json"),
            ],
        )
    yield f"{name}-simulate-text", ["simulate", trace, "--block-size", "64-8K"]
    yield f"{name}-simulate-sync", ["simulate", trace, "--sync", "include", "--json"]
    yield f"{name}-simulate-shared", ["simulate", trace, "--private", "shared", "--json"]
    yield f"{name}-simulate-3", ["simulate", trace, "--processors", "3", "--json"]
    yield (
        f"{name}-optimal-curve",
        [
            *("optimal", trace, "--machine", "prices:r=15,R=59", "--curve", "R=31..400", "--json"),
        ],
    )
    yield f"{name}-optimal-moves", ["optimal", trace, "--placement", f"files/{name}.csv"]
    yield f"{name}-sharing-html", ["sharing", trace, "-o", f"files/{name}-sharing.html"]
    yield f"{name}-tlb", ["tlb", trace, "--json"]
    yield f"{name}-tlb-mcpr", ["tlb", trace, "--mcpr", "--page-size", "4K", "--json"]
    for policy in ("limit", "limit-writes", "all-global"):
        yield f"{name}-pmap-{policy}", ["pmap", trace, "--policy", policy, "--json"]
    yield f"{name}-advise", ["advise", trace, "--json"]
    yield (
        f"{name}-advise-numa",
        [
            *("advise", trace, "--machine", "numa", "--block-size", "4K"),
            *("-o", f"files/{name}-better.hnt", "--json"),
        ],
    )
    yield f"{name}-sensitivity", ["sensitivity", trace, "--reinterleave", "3", "--json"]
    yield f"{name}-picture", ["picture", trace, "-o", f"files/{name}.svg", "--json"]
    yield f"{name}-explain", ["explain", "--all", "--trace", trace, "--json"]
    yield f"{name}-report", ["report", trace, "-o", f"files/{name}.html", "--json"]
    changed = f"files/{name}-u.hnt"
    for kind in ("local", "reinterleave", "realign", "drop-sync"):
        size = ["--page-size", "4K"] if kind == "realign" else []
        yield f"{name}-transform-{kind}", ["transform", kind, trace, *size, "-o", changed]
        yield f"{name}-transform-{kind}-text", ["export", changed, "--format", "text", "-o", "-"]


def on_a_bus(name: str) -> Iterator[tuple[str, list[str]]]:
    given = ["simulate", f"inputs/{name}.hnt", "--machine", "bus-smp", "--protocol", PROTOCOLS]
    small = ["--cache-size", "8K,256K", "--associativity", "1,2,full", "--block-size", "16,64"]
    yield f"{name}-bus-trace", [*given, *small, "--order", "trace", "--json"]
    yield f"{name}-bus-clock", [*given, *("--cache-size", "8K", "--associativity", "1"), "--json"]
    options = ["--private", "shared", "--sync", "exclude", "--fetches", "exclude"]
    ranges = ["--addresses", "trace", "--private-range", "0x1000-0x900000"]
    yield f"{name}-bus-options", [*given, "--order", "trace", *options, *ranges[2:], "--json"]
    if name not in ("fft", "ec"):
        return
    yield f"{name}-bus-check", [*given, "--cache-size", "8K", "--check", "--json"]
    yield f"{name}-bus-clock-sizes", [*given, *small[:4], "--block-size", "16", "--json"]
    yield f"{name}-bus-scaling", [*given, "--scaling", "1-3,7,16", "--json"]
    yield f"{name}-bus-random", [*given, "--scheduler", "random", "--seed", "9", "--json"]
    yield f"{name}-bus-affinity", [*given, "--scheduler", "affinity", "--processors", "3", "--json"]
    yield f"{name}-bus-torrellas", [*given, "--miss-rule", "torrellas", "--json"]
    yield f"{name}-bus-clock-options", [*given, *options, *ranges, "--json"]
    yield f"{name}-bus-kernel", [*given, "--kernel-model", "--processors", "3", "--json"]
    yield f"{name}-bus-text", [*given]


def on_links(name: str) -> Iterator[tuple[str, list[str]]]:
    given = ["simulate", f"inputs/{name}.hnt", "--machine", "spr-2s-lines"]
    yield f"{name}-links", [*given, "--json"]
    yield f"{name}-links-modelled", [*given, "--contention", "modelled", "--json"]
    yield f"{name}-links-trace", [*given, "--order", "trace", "--json"]
    if name != "p-qsort":
        return
    small = ["--cache-size", "8K,64K", "--associativity", "1,8,full", "--block-size", "32,256"]
    yield f"{name}-links-sizes", [*given, *small, "--check", "--json"]
    yield f"{name}-links-scaling", [*given, "--scaling", "1-3,70", "--json"]
    yield f"{name}-links-text", [*given]


def with_a_directory(name: str) -> Iterator[tuple[str, list[str]]]:
    given = ["simulate", f"inputs/{name}.hnt", "--machine", "dash-mesh"]
    lists = ["simulate", f"inputs/{name}.hnt", "--machine", "alite"]
    protocols = ["--protocol", "dash,dash:pointers=1,lrc"]
    homes = ["--home", HOMES]
    yield f"{name}-directory", [*given, *protocols, "--json"]
    yield f"{name}-directory-trace", [*given, "--order", "trace", *homes, "--json"]
    yield f"{name}-lists", [*lists, "--buffers", "infinite,8", "--proxies", PROXIES, "--json"]
    if name != "p-qsort":
        return
    small = ["--cache-size", "8K,64K", "--associativity", "1,4,full", "--block-size", "16,128"]
    yield f"{name}-directory-sizes", [*given, *protocols, *small, "--check", "--json"]
    yield f"{name}-directory-homes", [*given, *protocols, *homes, "--json"]
    yield f"{name}-directory-copies", [*given, *COPIES, "--json"]
    yield f"{name}-directory-strict", [*given, *protocols, "--consistency", "sc", "--json"]
    yield f"{name}-directory-scaling", [*given, "--scaling", "1-3,70", "--json"]
    yield f"{name}-directory-text", [*given, *protocols]
    yield f"{name}-lists-homes", [*lists, *homes, "--check", "--json"]
    yield f"{name}-lists-scaling", [*lists, "--scaling", "3,70", "--buffers", "1", "--json"]
    yield f"{name}-lists-text", [*lists]


def walks() -> Iterator[tuple[str, list[str]]]:
    """Each kind of walk that ``explain`` makes, on a page and as text."""
    for protocol in ("dash", "lrc", "sdd"):
        yield f"explain-{protocol}", ["explain", protocol, "--json"]
        yield f"explain-{protocol}-text", ["explain", protocol]
        yield f"explain-{protocol}-html", ["explain", protocol, "--html", f"files/{protocol}.html"]
    proxies = ["--home", "fixed:node=1", "--proxies", "basic:clusters=1"]
    yield "explain-proxies", ["explain", "sdd", "--example", "2 R a0; 3 R a0", *proxies, "--json"]


def run_live() -> Iterator[tuple[str, list[str]]]:
    for machine in ("bus-smp", "spr-2s-lines", "dash-mesh", "alite"):
        given = ["run", "--machine", machine, "--processors", "4", "--json"]
        yield f"run-{machine}", [*given, "--", f"inputs/{DRIVEN}", "--quick"]


def priced_machines() -> list[str]:
    """The package's machines with prices r, R, g and G."""
    folder = Path(__file__).parent.parent / "machines"
    timed = re.compile(r'^(kind = "(bus|multicore|directory)"|base = ".*-(lines|directory)")', re.M)
    machines = [path for path in folder.glob("*.toml") if path.stem != "markatos"]
    return sorted(path.stem for path in machines if not timed.search(path.read_text()))


def run(homenode: str, folder: Path, name: str, words: list[str]) -> None:
    """Stores a command's output and its exit code."""
    done = subprocess.run([homenode, *words], cwd=folder, capture_output=True, check=False)
    text = done.stdout
    if text.lstrip().startswith((b"{", b"[")):
        # One field per line, so that differences are legible.
        text = (json.dumps(json.loads(text), indent=1) + "\n").encode()
    notes = [line for line in done.stderr.splitlines() if line.startswith((b"note", b"homenode: "))]
    end = b"".join(line + b"\n" for line in notes) + f"exit code {done.returncode}\n".encode()
    (folder / f"{name}.txt").write_bytes(text + end)


def compare(before: Path, after: Path) -> int:
    """Prints the files that differ."""
    different = 0
    names = {path.relative_to(root) for root in (before, after) for path in root.rglob("*.*")}
    for name in sorted(name for name in names if name.parts[0] != "inputs"):
        pair = (before / name, after / name)
        if all(path.is_dir() for path in pair):
            continue
        if not all(path.is_file() for path in pair):
            print(f"{name}: only in {before if pair[0].exists() else after}")
        elif filecmp.cmp(*pair, shallow=False):
            continue
        else:
            print(f"{name}: differs")
        different += 1
    print(f"{len(names)} results, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

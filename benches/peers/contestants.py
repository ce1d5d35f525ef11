"""The programs that simulate the traces: homenode, the plain loop, and other simulators."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from running import Cost

from peers.traces import HERE, Input, compiled

PYCACHESIM = "pycachesim==0.3.1"
LIBCACHESIM = "libcachesim==0.3.5"
# A call of Python for each reference: seconds for a million.
PYCACHESIM_REFERENCES = 1_000_000
MACHINE = (
    *("--machine", "bus-smp", "--protocol", "mesi", "--order", "trace"),
    *("--cache-size", "32K", "--associativity", "8", "--block-size", "64"),
)
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")


@dataclass(frozen=True)
class Contestant:
    """A program, and how it is run on a trace.

    `command` gives `None` for a trace that the program cannot simulate. `counts` reads what a run
    printed: at least references and misses. The counts of coherent simulators must be equal.
    """

    name: str
    simulates: str
    command: Callable[[Input], list[str] | None]
    counts: Callable[[Cost], dict[str, int]]
    coherent: bool = False
    is_homenode: bool = False


@dataclass(frozen=True)
class Missing:
    """A program that cannot be measured, and why."""

    name: str
    reason: str


def plain(folder: Path) -> Contestant:
    """The yardstick."""
    program = compiled("plain.c", folder)
    return Contestant(
        "plain loop",
        "four coherent caches of 32 KiB, 8-way, LRU, MESI, in the order of the trace",
        lambda trace: [str(program), str(trace.records)],
        lambda cost: cost.summary,
        coherent=True,
    )


def homenode(command: list[str], name: str) -> Contestant:
    """A build of homenode on the same machine as the plain loop."""
    return Contestant(
        name,
        "the same, with all misses classified",
        lambda trace: [*command, "simulate", *MACHINE, "--json", str(trace.trace)],
        _of_homenode,
        coherent=True,
        is_homenode=True,
    )


def _of_homenode(cost: Cost) -> dict[str, int]:
    (row,) = json.loads(cost.output)
    done = row["transactions"]
    return {
        "references": row["block_references"],
        "misses": sum(row["misses"].values()),
        "write_misses": done["read_invalidate_memory"] + done["read_invalidate_cache"],
        "invalidates": done["invalidate"],
    }


def peers(folder: Path, multicachesim: Path | None) -> list[Contestant | Missing]:
    """Other simulators, installed into a folder if they are not on this machine."""
    return [_multicachesim(folder, multicachesim), *_from_registries(folder), _cachegrind(folder)]


def _multicachesim(folder: Path, source: Path | None) -> Contestant | Missing:
    if source is None:
        return Missing("MultiCacheSim", "name the folder of its source with --multicachesim")
    program = folder / "multicachesim"
    files = [str(source / f"{name}.cpp") for name in ("system", "cache", "prefetch")]
    # As its Makefile has them.
    options = ["-O3", "-march=native", "-std=gnu++14", "-flto", "-I", str(source)]
    command = ["c++", *options, str(HERE / "multicachesim.cpp"), *files, "-o", str(program)]
    if (problem := _problem(command)) is not None:
        return Missing("MultiCacheSim", f"cannot be compiled: {problem}")
    return Contestant(
        "MultiCacheSim",
        "four coherent caches of 32 KiB, 8-way, LRU, MOESI, in the order of the trace",
        lambda trace: [str(program), str(trace.records)],
        lambda cost: cost.summary,
        coherent=True,
    )


def _from_registries(folder: Path) -> list[Contestant | Missing]:
    environment = folder / "environment"
    python = str(environment / "bin/python")
    problem = _problem([sys.executable, "-m", "venv", str(environment)])
    found: list[Contestant | Missing] = []
    for package, program, last, simulates in (
        (
            LIBCACHESIM,
            "run_libcachesim.py",
            [],
            "one LRU cache of 512 blocks, fully associative, that all threads share; reads and "
            "writes are alike",
        ),
        (
            PYCACHESIM,
            "run_pycachesim.py",
            [str(PYCACHESIM_REFERENCES)],
            "four caches of 32 KiB, 8-way, LRU, not coherent; one call for each reference, and "
            f"only the first {PYCACHESIM_REFERENCES:,}",
        ),
    ):
        name = package.replace("==", " ")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        why = problem or _problem(pip)
        if why is not None:
            found.append(Missing(name, f"cannot be installed: {why}"))
            continue
        words = [python, str(HERE / program)]
        found.append(
            Contestant(
                name,
                simulates,
                lambda trace, words=words, last=last: [*words, str(trace.records), *last],
                lambda cost: cost.summary,
            )
        )
    return found


def _cachegrind(folder: Path) -> Contestant | Missing:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return Missing("cachegrind", "not installed; it is in the package valgrind")
    version = subprocess.run([valgrind, "--version"], capture_output=True, text=True, check=True)
    program = compiled("product.c", folder, "-pthread")
    words = [valgrind, "--tool=cachegrind", "--cache-sim=yes", *CACHES]
    words += ["--cachegrind-out-file=/dev/null", str(program)]
    return Contestant(
        f"cachegrind {version.stdout.strip().removeprefix('valgrind-')}",
        "the program while it runs, so none for syn50: one cache of 32 KiB for the data of all "
        "threads, which take turns, one for instructions and a last level, not coherent",
        lambda trace: None if trace.order is None else [*words, str(trace.order)],
        _of_cachegrind,
    )


def _of_cachegrind(cost: Cost) -> dict[str, int]:
    """The references and misses of data, as in `D   refs:  54,134,076  (...)`."""
    number = r":\s+([\d,]+)"
    found = {
        "references": re.search(rf"D +refs{number}", cost.messages),
        "misses": re.search(rf"D1 +misses{number}", cost.messages),
    }
    return {name: int(match[1].replace(",", "")) for name, match in found.items() if match}


def _problem(command: list[str]) -> str | None:
    """Runs a command; the last line of its messages if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return f"{command[0]} is missing"
    lines = (done.stdout + done.stderr).strip().splitlines()
    return (lines[-1:] or ["no message"])[0] if done.returncode else None

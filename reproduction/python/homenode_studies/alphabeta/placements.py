"""Measures the three user times on a machine with several NUMA nodes, with `numactl`.

`T_local` is one thread on one processor with all memory on its node; `T_numa` is the system's own
placement, first touch, with threads placed by the system; `T_global` approximates a machine on
which all writable data is remote: processors of one node, memory of another.
"""

import os
import shutil
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from homenode.errors import ConfigError
from homenode_studies.alphabeta.model import AlphaBeta, alpha_beta, spread

NODES = Path("/sys/devices/system/node")
"""Where Linux describes its NUMA nodes."""

_LOCAL_DISTANCE = 10  # of a node to itself, in the firmware's table

_NOT_HERE = (
    "measure on a machine with several (two sockets, say), or give times measured elsewhere with "
    "--global, --numa and --local or with --times; --trace simulates alpha on any machine"
)


@dataclass(frozen=True)
class Node:
    """A NUMA node with memory.

    Attributes:
        number: its number.
        processor: its first processor; `None` if it has only memory.
        distances: to each node, 10 for itself.
    """

    number: int
    processor: int | None
    distances: dict[int, int]


@dataclass(frozen=True)
class Measurement:
    """The analysis, and its input.

    Attributes:
        analysis: alpha, beta and gamma of the medians.
        user_s: user times of every run, by placement.
        system_s: system times of every run, by placement.
        commands: the command of each placement.
    """

    analysis: AlphaBeta
    user_s: dict[str, list[float]]
    system_s: dict[str, list[float]]
    commands: dict[str, list[str]]

    def describe(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        runs = {"user_s": self.user_s, "system_s": self.system_s, "commands": self.commands}
        return self.analysis.describe() | runs


def measure(
    command: Sequence[str],
    *,
    local_command: Sequence[str] | None = None,
    ratio: float | None = None,
    repeat: int = 3,
    progress: Callable[[int, int | None], None] | None = None,
) -> Measurement:
    """Runs a program under three placements and analyses the medians of its user times.

    Args:
        command: the program and its arguments.
        local_command: the same work with one thread, if the number of threads is an argument; else
            `command` with OMP_NUM_THREADS=1.
        ratio: G/L; by default the distance of the two nodes in the firmware's table.
        repeat: runs of each placement; the placements alternate.
        progress: called with the runs done and in all.

    Raises:
        ConfigError: when this machine cannot place pages in these ways, or the program fails.
    """
    numactl, near, far = check_machine()
    if not command:
        raise ConfigError("no program is given; name it and its arguments after --")
    if repeat < 1:
        raise ConfigError(f"repeat is {repeat}; expected at least 1")
    commands = {
        "global": [numactl, f"--cpunodebind={near.number}", f"--membind={far.number}", "--"],
        "numa": [numactl, "--localalloc", "--"],
        "local": [numactl, f"--physcpubind={near.processor}", f"--membind={near.number}", "--"],
    }
    for name, start in commands.items():
        start.extend(local_command if name == "local" and local_command else command)
    user: dict[str, list[float]] = {name: [] for name in commands}
    system: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(repeat):
        for place, (name, words) in enumerate(commands.items()):
            seconds = _run(words, one_thread=name == "local")
            user[name].append(seconds[0])
            system[name].append(seconds[1])
            if progress is not None:
                progress(turn * len(commands) + place + 1, repeat * len(commands))
    found = alpha_beta(
        user["global"],
        user["numa"],
        user["local"],
        ratio=ratio or near.distances[far.number] / _LOCAL_DISTANCE,
        system=(statistics.median(system["numa"]), statistics.median(system["global"])),
    )
    found = replace(found, program=Path(command[0]).name)
    return Measurement(_warned(found, user), user, system, commands)


def check_machine() -> tuple[str, Node, Node]:
    """Finds `numactl`, a node with processors, and the node farthest from it.

    Raises:
        ConfigError: when something is missing, with a remedy.
    """
    found = nodes()
    if len(found) < 2:
        raise ConfigError(
            f"this machine has {len(found) or 'no'} NUMA node{'s' * (len(found) != 1)} with "
            f"memory, so all memory is equally far; {_NOT_HERE}"
        )
    near = next((node for node in found if node.processor is not None), None)
    if near is None:
        raise ConfigError(f"no NUMA node of this machine has processors and memory; {_NOT_HERE}")
    far = max(found, key=lambda node: (near.distances.get(node.number, 0), -node.number))
    if near.distances.get(far.number, 0) <= _LOCAL_DISTANCE:
        raise ConfigError(f"all NUMA nodes of this machine are equally far; {_NOT_HERE}")
    numactl = shutil.which("numactl")
    if numactl is None:
        raise ConfigError(
            "numactl is not on the path; install it (apt-get install numactl, or dnf install "
            "numactl), or give the times with --global, --numa and --local"
        )
    return numactl, near, far


def nodes() -> list[Node]:
    """The NUMA nodes that have memory; none if the system does not list them."""
    found = []
    for folder in NODES.glob("node[0-9]*"):
        total = (folder / "meminfo").read_text().split("MemTotal:")[1].split()[0]
        if int(total) == 0:
            continue
        cpus = (folder / "cpulist").read_text().strip()
        first = cpus.replace("-", ",").split(",")[0]
        others = sorted(int(other.name[4:]) for other in NODES.glob("node[0-9]*"))
        distances = [int(word) for word in (folder / "distance").read_text().split()]
        found.append(
            Node(
                int(folder.name[4:]),
                int(first) if first else None,
                dict(zip(others, distances, strict=False)),
            )
        )
    return sorted(found, key=lambda node: node.number)


def _run(words: Sequence[str], *, one_thread: bool) -> tuple[float, float]:
    """User and system time of a command and what it waited for, in seconds."""
    environment = os.environ | ({"OMP_NUM_THREADS": "1"} if one_thread else {})
    # The program's output is not part of the result: it goes to standard error.
    with subprocess.Popen(words, env=environment, stdout=2) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ConfigError(
            f"{' '.join(words)}: ended with exit code {process.returncode}; run it without "
            "homenode first"
        )
    return usage.ru_utime, usage.ru_stime


def _warned(found: AlphaBeta, user: dict[str, list[float]]) -> AlphaBeta:
    """The analysis, with a note if the variation of runs exceeds the effect of placement."""
    widest = max(user, key=lambda name: spread(user[name]))
    change = abs(found.t_global - found.t_local) / found.t_local
    if spread(user[widest]) <= change:
        return found
    note = f"the runs of T_{widest} vary by {spread(user[widest]):.1%}, more than the effect of "
    "placement"
    return replace(found, notes=(*found.notes, note))

"""Runs a command and measures its costs, for the other benches.

A process begins with the memory of its parent, which counts towards its peak. So the command is
started by a small process, this file as a program: `python running.py REPORT COMMAND...` writes the
costs of COMMAND to the file REPORT, as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORD = [sys.executable, "-m", "homenode", "record", "--json"]
"""The first words of a recording, whose summary is `Cost.summary`."""


@dataclass(frozen=True)
class Cost:
    """The costs and the output of a command and of its child processes.

    `peak_mb` is that of the largest process among them, not the sum of all; `sleeps` counts how
    often their threads waited (voluntary context switches).
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    sleeps: int
    output: str
    said: bytes

    @property
    def messages(self) -> str:
        """Standard error; with ``--json`` also the recorded program's output."""
        return self.said.decode(errors="replace")

    @property
    def summary(self) -> dict[str, Any]:
        """The JSON that a command printed."""
        found: dict[str, Any] = json.loads(self.output)
        return found


def run(command: list[str]) -> Cost:
    """Runs a command to its end, with standard error in a file; the bench ends if it fails."""
    with tempfile.NamedTemporaryFile() as report, tempfile.TemporaryFile() as errors:
        line = [sys.executable, __file__, report.name, *command]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
        errors.seek(0)
        said = errors.read()
        if done.returncode != 0:
            last = said[-2000:].decode(errors="replace")
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{last}")
        took = json.loads(Path(report.name).read_text())
    return Cost(**took, output=done.stdout, said=said)


def write_numbers(path: Path, count: int) -> Path:
    """Writes lines to sort: unordered numbers; 1,000,003 is prime, so few occur twice."""
    numbers = (number * 611_953 % 1_000_003 for number in range(1, count + 1))
    path.write_text("".join(f"{number:010d}\n" for number in numbers))
    return path


def row(*cells: str) -> None:
    """One line of a table in Markdown."""
    print(f"| {' | '.join(cells)} |", flush=True)


def _measure(report: str, command: list[str]) -> int:
    """Runs the command and writes its costs; returns its exit code."""
    begin = time.perf_counter()
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = {
        "wall_s": time.perf_counter() - begin,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "sleeps": usage.ru_nvcsw,
    }
    Path(report).write_text(json.dumps(took))
    return process.returncode


if __name__ == "__main__":
    sys.exit(_measure(sys.argv[1], sys.argv[2:]))

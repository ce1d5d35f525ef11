"""Runs of live programs and replays of their traces, for the tests of this folder."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command import in_process

PROGRAMS = Path(__file__).parent / "programs"
# For a process that hangs: ten times what any process needs.
Builder = Callable[..., str]
TIMEOUT_S = 1500
# A machine of each kind of engine with a clock.
MACHINES = {
    "bus-smp": ["--protocol", "mesi", "--cache-size", "16K"],
    "spr-2s-lines": ["--protocol", "mesi"],
    "dash-mesh": ["--protocol", "dash", "--home", "first-touch"],
    "alite": ["--protocol", "sdd", "--home", "first-touch"],
}


def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A command, which ends with this code."""
    done = subprocess.run(
        [sys.executable, "-m", "homenode", *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


def only_row(*words: str) -> dict[str, Any]:
    """The one row that a command prints as JSON."""
    return _only(run(*words).stdout)


def _only(text: str) -> dict[str, Any]:
    rows = json.loads(text)
    assert len(rows) == 1
    return rows[0]


def check_replay(lived: dict[str, Any], trace: Path, of_machine: list[str]) -> None:
    """Checks that the replay of a run's trace is the run."""
    replay = in_process("simulate", trace, *of_machine)
    assert replay.code == 0, replay.err
    replayed = _only(replay.out)
    times = ("cycles", "gsp", "utilisation", "delay", "idle", "busy", "stall")
    for name, value in replayed.items():
        if not any(word in name for word in times) and isinstance(value, int):
            assert lived[name] == value, name
    for name in ("misses", "transactions", "coherence", "messages"):
        assert lived.get(name) == replayed.get(name), name
    assert lived["cycles"] == pytest.approx(replayed["cycles"], rel=0.01)


def check_run_and_replay(program: str, trace: Path, machine: str, *more: str) -> dict[str, Any]:
    """Checks that the replay of a program's run is the run, which is returned."""
    threads = "3" if Path(program).name.startswith("pipeline") else "4"
    of_machine = ["--machine", machine, *MACHINES[machine], "--processors", "4", "--json"]
    options = [*more, "--expected-threads", threads, "-o", str(trace)]
    lived = only_row("run", *of_machine, *options, "--", program)
    check_replay(lived, trace, of_machine)
    return lived

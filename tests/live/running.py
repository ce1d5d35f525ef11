"""Runs of live programs, and replays of their traces, as the tests of this folder look at them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT_S = 600
# A machine of each kind of engine with a clock.
MACHINES = {
    "bus-smp": ["--protocol", "mesi", "--cache-size", "16K"],
    "spr-2s-lines": ["--protocol", "mesi"],
    "dash-mesh": ["--protocol", "dash", "--home", "first-touch"],
    "alite": ["--protocol", "sdd", "--home", "first-touch"],
}


def run(*words: str, code: int = 0, timeout_s: int = TIMEOUT_S) -> subprocess.CompletedProcess[str]:
    """A command, which ends with this code."""
    done = subprocess.run(
        [sys.executable, "-m", "homenode", *words],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


def only_row(*words: str, timeout_s: int = TIMEOUT_S) -> dict[str, Any]:
    """The one row that a command prints as JSON."""
    rows = json.loads(run(*words, timeout_s=timeout_s).stdout)
    assert len(rows) == 1
    return rows[0]


def check_replay(lived: dict[str, Any], trace: Path, of_machine: list[str]) -> None:
    """Checks that the replay of a run's trace is the run."""
    replayed = only_row("simulate", str(trace), *of_machine)
    times = ("cycles", "gsp", "utilisation", "delay", "idle", "busy", "stall")
    for name, value in replayed.items():
        if not any(word in name for word in times) and isinstance(value, int):
            assert lived[name] == value, name
    for name in ("misses", "transactions", "coherence", "messages"):
        assert lived.get(name) == replayed.get(name), name
    assert lived["cycles"] == pytest.approx(replayed["cycles"], rel=0.01)

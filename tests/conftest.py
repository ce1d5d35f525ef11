"""What the tests share: a small trace, and the command line run in this process."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from homenode.cli import main
from support.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import homenode as hn


# Shells tell what runs in the background to ignore interrupts, and programs inherit that: tests
# that interrupt one must not depend on where they run.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def homenode() -> Callable[..., Outcome]:
    """Runs the command line in this process; the result has exit code, output and errors."""

    def run(*words: object, stdin: str = "") -> Outcome:
        with CliRunner().isolation(input=stdin) as (out, err, _):
            code = main([str(word) for word in words])
            return Outcome(code, out.getvalue().decode(), err.getvalue().decode())

    return run


@pytest.fixture
def program() -> Callable[..., Outcome]:
    """Runs the command line as a process of its own, by way of `script` if there is one."""

    def run(*words: object, stdin: str = "", script: Path | None = None) -> Outcome:
        start = ["-m", "homenode"] if script is None else [str(script)]
        line = [sys.executable, *start, *(str(word) for word in words)]
        done = subprocess.run(line, input=stdin, capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def trace(tmp_path: Path) -> hn.Trace:
    """Four threads: own data, a table read by all, and a counter that all write."""
    return make_trace(tmp_path / "small.hnt", 4_000)

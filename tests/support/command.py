"""The command line, run in this process or as a separate process."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from homenode.cli import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]
"""Runs a command with these words."""
Printed = Callable[..., str]
"""What a program or a command with these words prints."""


def in_process(*words: object, stdin: str = "") -> Outcome:
    """Runs the command line in this process; the result has exit code, output and errors."""
    with CliRunner().isolation(input=stdin) as (out, err, _):
        code = main([str(word) for word in words])
        return Outcome(code, out.getvalue().decode(), err.getvalue().decode())


@pytest.fixture
def homenode() -> Command:
    """The command line in this process."""
    return in_process


@pytest.fixture
def program() -> Command:
    """Runs the command line as a separate process, through `script` if there is one."""

    def run(*words: object, stdin: str = "", script: Path | None = None) -> Outcome:
        start = ["-m", "homenode"] if script is None else [str(script)]
        line = [sys.executable, *start, *(str(word) for word in words)]
        done = subprocess.run(line, input=stdin, capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run

"""What the tests share: a small trace, and the command line run in this process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

import homenode as hn
from homenode.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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


def make_trace(path: Path, references: int, threads: int = 4) -> hn.Trace:
    """A trace with private-looking, read-shared and write-shared data, the same every time."""
    rng = np.random.default_rng(7)
    thread = (np.arange(references) // 10) % threads
    kind_of = rng.random(references)
    own = 0x10000 + thread * 0x2000 + rng.integers(0, 512, references) * 4
    shared = 0x80000 + rng.integers(0, 256, references) * 8
    counter = 0x90000 + thread * 4
    address = np.where(kind_of < 0.6, own, np.where(kind_of < 0.9, shared, counter))
    writes = np.where(kind_of < 0.6, rng.random(references) < 0.4, kind_of >= 0.9)
    return hn.Trace.from_numpy(
        thread=thread, kind=writes.astype(np.uint8), address=address, size=4, path=path
    )

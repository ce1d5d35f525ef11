"""What the tests of the planted programs share: each twin is compiled and recorded once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from planted.record import TWINS, compile_twin, record, run_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from planted.record import Program, Run


@dataclass(frozen=True)
class Twin:
    """A twin that ran natively, and twice under the recorder."""

    native: Run
    recorded: Run
    summary: dict[str, Any]
    trace: Path
    again: Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of a session also compiles the runtime."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(120))


@pytest.fixture(scope="session")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Program], dict[str, Twin]]:
    """Both twins of a program."""
    folder = tmp_path_factory.mktemp("planted")
    done: dict[str, dict[str, Twin]] = {}

    def make(program: Program, twin: str) -> Twin:
        executable = compile_twin(program, twin, folder)
        trace, again = (executable.with_suffix(f".{twin}{end}.hnt") for end in ("", ".again"))
        recorded, summary = record(program, executable, trace)
        record(program, executable, again)
        native = run_native(program, compile_twin(program, twin, folder, native=True))
        return Twin(native, recorded, summary, trace, again)

    def run(program: Program) -> dict[str, Twin]:
        if program.file not in done:
            # A program without anything to fix is its own twin.
            chosen = TWINS if program.twin else TWINS[:1]
            with ThreadPoolExecutor(len(chosen)) as pool:
                made = list(pool.map(lambda twin: make(program, twin), chosen))
            made *= len(TWINS) // len(made)
            done[program.file] = dict(zip(TWINS, made, strict=True))
        return done[program.file]

    return run

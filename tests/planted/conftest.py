"""Fixtures for the planted programs: each twin is compiled and recorded once."""

import fcntl
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from planted.record import TWINS, Program, Run, compile_twin, record, run_native


@dataclass(frozen=True)
class Twin:
    """A twin that ran natively, and twice under the recorder."""

    native: Run
    recorded: Run
    summary: dict[str, Any]
    trace: Path
    repeatable: bool


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of a session also compiles the runtime, and the others wait for it."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Program], dict[str, Twin]]:
    """Both twins of a program; pytest's workers share what one of them has recorded."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "planted"
    folder.mkdir(exist_ok=True)

    def run(program: Program) -> dict[str, Twin]:
        done = folder / f"{program.source.stem}.json"
        with done.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                made = _make_twins(program, folder)
                done.write_text(json.dumps(made, default=str))
        made = json.loads(done.read_text())
        return {twin: _twin(made[min(n, len(made) - 1)]) for n, twin in enumerate(TWINS)}

    return run


def _make_twins(program: Program, folder: Path) -> list[dict[str, Any]]:
    # A program with nothing to fix is its own twin.
    chosen = TWINS if program.twin else TWINS[:1]
    with ThreadPoolExecutor(len(chosen)) as pool:
        return [asdict(t) for t in pool.map(lambda twin: _make(program, twin, folder), chosen)]


def _make(program: Program, twin: str, folder: Path) -> Twin:
    executable = compile_twin(program, twin, folder)
    trace, again = (executable.with_suffix(f".{twin}{end}.hnt") for end in ("", ".again"))
    recorded, summary = record(program, executable, trace)
    record(program, executable, again)
    native = run_native(program, compile_twin(program, twin, folder, native=True))
    same = trace.read_bytes() == again.read_bytes()
    return Twin(native, recorded, summary, trace, same)


def _twin(made: dict[str, Any]) -> Twin:
    runs = {name: Run(**made[name]) for name in ("native", "recorded")}
    return Twin(**{**made, **runs, "trace": Path(made["trace"])})

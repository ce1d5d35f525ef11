"""Fixtures for the tests of workloads: each program is compiled with hooks once."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode_studies import workloads

Built = Callable[[str], Path]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pytest's workers share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "workloads"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def built(shared: Path) -> Built:
    """A workload that can be recorded; the first test that asks for it compiles it."""

    def make(name: str) -> Path:
        return _once(shared / name, lambda target: workloads.build(name, target, "homenode"))

    return make


@pytest.fixture(scope="session")
def quick(built: Built) -> Callable[[str], hn.Trace]:
    """A workload's recording at its quick size by 8 threads; the first test that asks makes it."""

    def made(name: str) -> hn.Trace:
        command = [str(built(name)), *workloads.find(name).quick, "-p", "8"]
        trace = built(name).with_suffix(".hnt")
        return hn.Trace.open(_once(trace, lambda target: hn.Trace.record(command, target)))

    return made


def _once(target: Path, make: Callable[[Path], object]) -> Path:
    with target.with_name(f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            make(target)
    return target

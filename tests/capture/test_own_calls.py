"""The runtime's own copies and clears of memory are not recorded."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Builder, Recorder


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_all_references_are_those_of_the_program(
    compiler: str, build: Builder, record: Recorder
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    program = build("own_calls.c", "-no-pie", environment={"HOMENODE_CC": compiler})
    made = record(program)
    assert made.out == "served\n"
    symbols = subprocess.run(
        [shutil.which("nm") or "nm", "-S", program], capture_output=True, text=True, check=True
    )
    (main,) = [line.split() for line in symbols.stdout.splitlines() if line.endswith(" main")]
    start, size = int(main[0], 16), int(main[1], 16)
    counters = made.columns()["pc"]
    assert len(counters) > 0
    assert ((counters >= start) & (counters < start + size)).all()

"""References are at the program's own instructions, not at the runtime's."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder


def _addresses(program: Path) -> dict[str, range]:
    """Of the program's functions."""
    words = [shutil.which("nm") or "nm", "-S", str(program)]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {r[3]: range(int(r[0], 16), int(r[0], 16) + int(r[1], 16)) for r in rows if len(r) == 4}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    ("source", "functions"), [("own_calls.c", ["main"]), ("c11_lines.c", ["main", "other"])]
)
def test_all_references_are_at_instructions_of_the_program(
    source: str, functions: list[str], compiler: str, build: Builder, record: Recorder
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    program = build(source, "-no-pie", environment={"HOMENODE_CC": compiler})
    made = record(program)
    assert made.out == "served\n"
    addresses = _addresses(program)
    counters = np.unique(made.columns()["pc"]).tolist()
    found = [name for pc in counters for name in functions if pc in addresses[name]]
    assert len(found) == len(counters)
    assert set(found) == set(functions)

"""Handlers of signals do in a recorded program what they do in a plain one."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import PROGRAMS

if TYPE_CHECKING:
    from conftest import Builder, Recorder, Recording

_SOURCE = "signal_actions.c"
_CASES = re.findall(r'CASE\("([^"]+)"\)', (PROGRAMS / _SOURCE).read_text())


def _as_plain(recording: Recording, plain: subprocess.CompletedProcess[str]) -> None:
    ended = recording.summary["signal"], recording.summary["exit_code"]
    assert recording.out == plain.stdout
    assert ended == ((-plain.returncode, None) if plain.returncode < 0 else (None, 3))


@pytest.mark.parametrize("case", _CASES)
def test_handlers_with_hooks(
    build: Builder, compiled: Builder, record: Recorder, case: str
) -> None:
    plain = subprocess.run([compiled(_SOURCE), case], capture_output=True, text=True, check=False)
    assert plain.returncode in {3, -10, -12}
    for order in ("deterministic", "logical"):
        _as_plain(record(build(_SOURCE), case, order=order), plain)


@pytest.mark.parametrize("case", _CASES)
def test_handlers_under_emulation(compiled: Builder, emulate: Recorder, case: str) -> None:
    program = compiled(_SOURCE)
    plain = subprocess.run([program, case], capture_output=True, text=True, check=False)
    _as_plain(emulate(program, case), plain)

"""Ctrl-C on a terminal, which also interrupts the recorded program: the trace is complete."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import homenode as hn
from homenode.capture import plugin

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("setsid") is None,
    reason="gcc or setsid is not installed",
)


def _record_until_interrupted(words: list[str], partial: Path) -> tuple[int, str]:
    """The exit code and terminal output of a recording that writes `partial`."""
    terminal, follower = pty.openpty()
    setsid = shutil.which("setsid") or ""
    process = subprocess.Popen(
        [setsid, "--ctty", sys.executable, "-m", "homenode", "record", *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    # The first chunk is written: the program runs, and is recorded.
    while process.poll() is None and not (partial.exists() and partial.stat().st_size > 1000):
        time.sleep(0.01)
    os.write(terminal, b"\x03")
    said = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            said.append(part)
    os.close(terminal)
    return process.wait(), b"".join(said).decode()


@pytest.mark.parametrize("via", ["cc", "qemu"])
@pytest.mark.timeout(1200)
def test_ctrl_c_leaves_what_was_recorded(
    via: str, build: Builder, compiled: Builder, tmp_path: Path
) -> None:
    if via == "qemu":
        if shutil.which("qemu-x86_64") is None:
            pytest.skip("qemu-user is not installed")
        plugin.plugin()
    program = (build if via == "cc" else compiled)("endless.c")
    trace = tmp_path / "t.hnt"
    words = ["--via", via, "-o", str(trace), "--", str(program)]
    code, said = _record_until_interrupted(words, tmp_path / "t.hnt.partial")
    assert code == 130, said
    assert f"{trace.name} holds what was recorded until now" in said.replace("\r\n", "")
    assert "Traceback" not in said
    assert hn.Trace.open(trace).references >= 1 << 20
    assert [path.name for path in tmp_path.glob("t.hnt*")] == ["t.hnt"]

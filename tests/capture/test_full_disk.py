"""A full disk: which files remain on it, and what the message recommends."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import homenode as hn

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, OnADisk

_CLI = [sys.executable, "-m", "homenode"]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of several chunks, each of some megabytes."""
    path = tmp_path_factory.mktemp("big") / "big.hnt"
    address = np.random.default_rng(5).integers(0, 1 << 30, 2_200_000) * 4
    hn.Trace.from_numpy(thread=0, kind="R", address=address, path=path)
    assert hn.Trace.open(path).info["chunks"] > 2
    return path


_FULL = {
    "export": ["export", "BIG", "--format", "text", "-o", "out.txt"],
    "arrow": ["export", "BIG", "--format", "arrow", "-o", "out.arrow"],
    "transform": ["transform", "local", "BIG", "-o", "out.hnt"],
    "import": ["import", "TEXT", "--format", "text", "-o", "out.hnt"],
    "columns": ["import", "TEXT.parquet", "-o", "out.hnt"],
    "repair": ["repair", "BIG", "-o", "out.hnt"],
    "compact": ["compact", "--level", "1", "BIG", "-o", "out.hnt"],
}


@pytest.mark.parametrize("size", ["8k", "5m"])
@pytest.mark.parametrize("command", _FULL)
def test_what_can_be_made_again_leaves_nothing(
    command: str, size: str, disk: Path, big: Path, tmp_path: Path, on_a_disk: OnADisk
) -> None:
    text = tmp_path / "big.txt"
    if command == "import":
        hn.Trace.open(big).export(text, format="text")
    if command == "columns":
        hn.Trace.open(big).export(tmp_path / "big.txt.parquet")
    words = [w.replace("BIG", str(big)).replace("TEXT", str(text)) for w in _FULL[command]]
    done = on_a_disk(size, disk, f"{shlex.join([*_CLI, *words])}; echo $?; ls -A")
    assert done.stdout.splitlines() == ["2"], done
    assert len(done.stderr.splitlines()) == 1
    assert "no space left" in done.stderr
    assert "out." in done.stderr
    assert ".partial" not in done.stderr
    assert "make room" in done.stderr
    assert "repair" not in done.stderr


def test_a_trace_that_has_no_room_to_become_smaller_is_kept(
    disk: Path, big: Path, on_a_disk: OnADisk
) -> None:
    size = big.stat().st_size
    words = shlex.join([*_CLI, "compact", "--level", "1", "t.hnt"])
    script = f"cp {shlex.quote(str(big))} t.hnt && {words}; echo $?; ls -A; cmp t.hnt {big}"
    done = on_a_disk(str(size * 5 // 4), disk, script)
    assert done.stdout.splitlines() == ["2", "t.hnt"], done
    assert "t.hnt: no space left" in done.stderr
    assert "make room" in done.stderr


@pytest.mark.parametrize("order", ["deterministic", "logical"])
@pytest.mark.parametrize(("size", "kept"), [("8k", False), ("2m", True)])
def test_a_recording_keeps_what_can_be_rescued(
    size: str, kept: bool, order: str, disk: Path, build: Builder, on_a_disk: OnADisk
) -> None:
    record = [
        *_CLI,
        "record",
        "--order",
        order,
        "-o",
        "t.hnt",
        "--",
        str(build("large.c")),
        "3000000",
    ]
    script = f"{shlex.join(record)} >&2; echo $?; ls -A"
    if kept:
        # Repairing needs space for the rest of the trace, once its first part is removed.
        script += f"; mount -o remount,size=16m .; {shlex.join(_CLI)} repair t.hnt.partial >&2"
        script += "; echo $?; ls -A"
    done = on_a_disk(size, disk, script)
    assert "no space left" in done.stderr
    assert ("homenode repair" in done.stderr) == kept
    expected = ["2", "t.hnt.partial", "0", "t.hnt", "t.hnt.partial"] if kept else ["2"]
    assert done.stdout.splitlines() == expected, done

"""Whole systems, recorded in QEMU's system emulation.

The tests that boot need a Linux kernel for x86-64 that this user may read: HOMENODE_TEST_KERNEL, or
the newest in /boot.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import homenode as hn
from homenode.capture import initramfs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import Qemu

PROGRAMS = Path(__file__).parent / "programs"
_WORDS, _ROUNDS = 4096, 5
_MEMORY_MIB = 256
_FETCH, _INSTRUCTION_BYTES_MAX = 3, 15
_KERNEL_IMAGE, _IMAGE_MAX = 0xFFFFFFFF80000000, 512 << 20


def _kernel() -> str:
    named = os.environ.get("HOMENODE_TEST_KERNEL")
    found = [named] if named else sorted(map(str, Path("/boot").glob("vmlinuz-*")))
    return next((path for path in reversed(found) if os.access(path, os.R_OK)), "")


boots = pytest.mark.skipif(
    not _kernel() or shutil.which("gcc") is None, reason="gcc or a kernel is not installed"
)


@pytest.fixture(scope="session")
def small_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An initramfs with one program."""
    folder = tmp_path_factory.mktemp("system")
    program = folder / "init"
    line = ["gcc", "-O1", "-static", str(PROGRAMS / "system_init.c"), "-o", str(program)]
    subprocess.run(line, check=True)
    target = folder / "initramfs"
    target.write_bytes(initramfs.archive([("init", 0o100755, program.read_bytes())]))
    return target


def _record(qemu: Qemu, image: Path, trace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "homenode", "record", "--via", "qemu-system", "--json"]
    line += ["--emulator", qemu.emulator("system-x86_64"), *words]
    line += ["--kernel", _kernel(), "--initramfs", str(image), "--processors", "2"]
    line += ["--memory", str(_MEMORY_MIB), "-o", str(trace)]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=qemu.environment())


def _columns(trace: hn.Trace) -> Mapping[str, np.ndarray]:
    table = trace.to_arrow()
    return {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}


def _check_names(trace: hn.Trace, frames: set[int]) -> None:
    """Names of the functions and data of the kernel and of the program."""
    info = trace.metadata
    functions = {line["function"] for line in info["lines"]}
    assert {"__schedule", "work [init]", "main [init]"} <= functions
    ranges = info["ranges"]
    assert {"runqueues (processor 0)", "runqueues (processor 1)", "jiffies"} <= {
        entry["name"] for entry in ranges
    }
    named = {entry["start"] >> 12 for entry in ranges if entry["name"] == "words [init]"}
    # Two copies of 32 KiB.
    assert len(frames & named) >= 2 * 8


@boots
def test_kernel_and_processes_are_recorded_between_the_marks(
    qemu: Qemu, small_system: Path, tmp_path: Path
) -> None:
    done = _record(qemu, small_system, tmp_path / "t.hnt")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    children = dict(re.findall(r"process (\d+) processor (\d)", done.stderr))
    assert sorted(children.values()) == ["0", "1"], done.stderr
    columns = _columns(hn.Trace.open(tmp_path / "t.hnt"))
    assert (summary["exit_code"], summary["threads"]) == (0, 2)
    assert columns["address"].max() < _MEMORY_MIB << 20
    processes = hn.Trace.open(tmp_path / "t.hnt").metadata["processes"]
    names = {str(entry["pid"]): entry["names"] for entry in processes}
    assert all(names[process] == ["init"] for process in children)
    assert names["0"] == ["swapper"]
    assert ["mark"] in names.values()
    line = [sys.executable, "-m", "homenode", "info", str(tmp_path / "t.hnt")]
    shown = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert "0 swapper; 1 init; " in shown
    kernel = columns["kernel"]
    assert 0 < kernel.sum() < len(kernel)
    assert ((columns["pc"] >> np.uint64(63)) == kernel).all()

    stores = (columns["kind"] == 1) & ~kernel & (columns["size"] == 8)
    frames = []
    for process, processor in children.items():
        own = columns["pid"] == int(process)
        there = own & stores & (columns["thread"] == int(processor))
        addresses, times = np.unique(columns["address"][there], return_counts=True)
        written = addresses[times >= _ROUNDS]
        assert len(written) >= _WORDS
        frames.append(set((written >> np.uint64(12)).tolist()))
    _check_names(hn.Trace.open(tmp_path / "t.hnt"), set().union(*frames))
    # Fork copies what is written: one address in each process, two places in memory.
    assert not frames[0] & frames[1]
    # What init does after the stop mark is not recorded.
    init = (columns["pid"] == 1) & stores
    assert init.sum() < _WORDS


@boots
def test_fetches_have_physical_addresses(qemu: Qemu, small_system: Path, tmp_path: Path) -> None:
    done = _record(qemu, small_system, tmp_path / "t.hnt", "--fetches")
    assert done.returncode == 0, done.stderr
    columns = _columns(hn.Trace.open(tmp_path / "t.hnt"))
    pc, address, fetch = columns["pc"], columns["address"], columns["kind"] == _FETCH
    assert 0.5 < fetch.mean() < 0.9
    assert columns["size"][fetch].max() <= _INSTRUCTION_BYTES_MAX
    # A kernel that may not relocate itself has the same offset in virtual and in physical memory.
    image = fetch & (pc >= np.uint64(_KERNEL_IMAGE)) & (pc < np.uint64(_KERNEL_IMAGE + _IMAGE_MAX))
    assert image.sum() > 10_000
    assert (pc[image] - np.uint64(_KERNEL_IMAGE) == address[image]).all()
    in_page = np.uint64(4095)
    assert ((pc & in_page) == (address & in_page))[fetch].all()
    for processor in (0, 1):
        own = columns["thread"] == processor
        fetched, places = fetch[own], pc[own]
        last = np.maximum.accumulate(np.where(fetched, np.arange(len(fetched)), 0))
        begun = np.argmax(fetched)
        # Except for interrupt frames, a reference belongs to the instruction fetched last.
        assert (places == places[last])[begun:].mean() > 0.999


@boots
def test_a_repeatable_system_is_the_same_bytes(
    qemu: Qemu, small_system: Path, tmp_path: Path
) -> None:
    if qemu.folder is None:
        pytest.skip("QEMU before 10 cannot repeat what several processors do")
    traces = [tmp_path / "1.hnt", tmp_path / "2.hnt"]
    for trace in traces:
        done = _record(qemu, small_system, trace, "--repeatable")
        assert done.returncode == 0, done.stderr
    assert traces[0].read_bytes() == traces[1].read_bytes()
    trace = hn.Trace.open(traces[0])
    assert trace.metadata["order"] == "emulator's, repeatable"
    assert (np.bincount(_columns(trace)["thread"]) > 10_000).tolist() == [True, True]


@boots
def test_a_kernel_that_panics_is_an_error(qemu: Qemu, tmp_path: Path) -> None:
    empty = tmp_path / "initramfs"
    empty.write_bytes(initramfs.archive([("empty", 0o040755, b"")]))
    done = _record(qemu, empty, tmp_path / "t.hnt")
    assert done.returncode == 2
    assert "its kernel panicked, before anything in it ran `/homenode/mark start`" in done.stderr
    assert not list(tmp_path.glob("t.hnt*"))


def test_an_archive_has_the_kernels_format() -> None:
    made = initramfs.archive([("d", 0o040755, b""), ("d/f", 0o100644, b"abcde")])
    entries, at = [], 0
    while not entries or entries[-1][0] != "TRAILER!!!":
        assert made[at : at + 6] == b"070701"
        fields = [int(made[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name = made[at + 110 : at + 110 + fields[11] - 1].decode()
        start = -(-(at + 110 + fields[11]) // 4) * 4
        entries.append((name, fields[1], made[start : start + fields[6]]))
        at = -(-(start + fields[6]) // 4) * 4
    assert entries[:2] == [("d", 0o040755, b""), ("d/f", 0o100644, b"abcde")]
    assert at == len(made)


def test_the_users_archive_follows_ours(tmp_path: Path) -> None:
    for name, content in [("user", b"\x1f\x8btheirs"), ("mark", b"ELF")]:
        (tmp_path / name).write_bytes(content)
    initramfs.with_mark(tmp_path / "user", tmp_path / "mark", tmp_path / "both")
    both = (tmp_path / "both").read_bytes()
    assert both.endswith(b"\x1f\x8btheirs")
    assert b"homenode/mark\0" in both
    assert (len(both) - len(b"\x1f\x8btheirs")) % 4 == 0

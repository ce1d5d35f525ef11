"""Failures while a whole system is recorded.

The system has no kernel, but a small program that QEMU starts directly.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import homenode as hn
from homenode.capture import build, initramfs, plugin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import Qemu

PROGRAMS = Path(__file__).parent / "programs"
_FLAGS = ["-m32", "-nostdlib", "-static", "-Wl,-N,-Ttext=0x100000,--build-id=none"]

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() != "x86_64",
    reason="gcc is not installed, or is for another machine than the system",
)
runs = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None, reason="qemu-system-x86 is not installed"
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A system without a kernel, and files with every kind of error."""
    bare, image = tmp_path / "bare", tmp_path / "image"
    line = ["gcc", *_FLAGS, str(PROGRAMS / "bare_system.S"), "-o", str(bare)]
    subprocess.run(line, check=True)
    image.write_bytes(initramfs.archive([("empty", 0o040755, b"")]))
    (tmp_path / "text").write_text("no kernel, and no archive either")
    return {"bare": bare, "image": image, "folder": tmp_path, "text": tmp_path / "text"}


def _record(
    files: dict[str, Path],
    kernel: str,
    image: str,
    *words: str,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Records with files from `files`, or others."""
    line = [sys.executable, "-m", "homenode", "record", "--via", "qemu-system", "--memory", "64"]
    line += ["--kernel", str(files.get(kernel, kernel)), "--processors", "1"]
    line += ["--initramfs", str(files.get(image, image))]
    line += ["-o", str(files["folder"] / "t.hnt"), *words]
    return subprocess.run(
        line, capture_output=True, text=True, check=False, timeout=1000, env=environment
    )


def _is_refused(done: subprocess.CompletedProcess[str], files: dict[str, Path], why: str) -> None:
    assert done.returncode == 2, done.stderr
    assert why in done.stderr
    assert not list(files["folder"].glob("t.hnt*"))


def test_two_pairs_of_marks_make_one_trace_of_what_is_between(
    files: dict[str, Path], qemu: Qemu
) -> None:
    words = ["--emulator", qemu.emulator("system-x86_64")]
    done = _record(files, "bare", "image", *words, environment=qemu.environment())
    assert done.returncode == 0, done.stderr
    table = hn.Trace.open(files["folder"] / "t.hnt").to_arrow()
    addresses = table["address"].to_numpy()
    stores = addresses[table["kind"].to_numpy() == 1]
    expected = [0x400000 + 4 * i for i in range(1000)] + [0x600000 + 4 * i for i in range(500)]
    assert stores.tolist() == expected
    assert np.unique(table["pid"].to_numpy()).tolist() == [0]
    line = [sys.executable, "-m", "homenode", "export", "--format", "text", "-o", "-"]
    line.append(str(files["folder"] / "t.hnt"))
    text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    events = [line.split()[-1] for line in text.splitlines() if " marker " in line]
    assert [event for event in events if event in ("start", "stop")] == ["start", "stop"] * 2


@pytest.mark.parametrize(
    ("kernel", "image", "why"),
    [
        ("/no/such/kernel", "image", "cannot read the kernel: No such file"),
        ("folder", "image", "cannot read the kernel: it is no file"),
        ("bare", "/no/such/archive", "/no/such/archive"),
        ("bare", "folder", "Is a directory"),
        ("bare", "text", "expected a cpio archive"),
        ("bare", "/dev/null", "expected a cpio archive"),
    ],
)
def test_files_that_cannot_be_are_refused(
    files: dict[str, Path], kernel: str, image: str, why: str
) -> None:
    _is_refused(_record(files, kernel, image), files, why)


def test_a_compiler_for_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(build.RuntimeBuildError, match="record on an x86-64 machine"):
        plugin.mark()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_kernel_of_roots_is_refused(files: dict[str, Path]) -> None:
    files["bare"].chmod(0)
    _is_refused(_record(files, "bare", "image"), files, "Permission denied")


def test_no_qemu_says_what_to_install(files: dict[str, Path]) -> None:
    done = _record(files, "bare", "image", "--emulator", "/no/such/qemu")
    _is_refused(done, files, "qemu-system-x86")


def test_repeating_needs_a_later_qemu(files: dict[str, Path]) -> None:
    old = files["folder"] / "qemu"
    old.write_text("#!/bin/sh\necho version 9.2.0; echo -plugin\n")
    old.chmod(0o755)
    done = _record(files, "bare", "image", "--repeatable", "--emulator", str(old))
    _is_refused(done, files, "10 or later")


@runs
@pytest.mark.parametrize(
    ("kernel", "words", "why"),
    [
        # QEMU accepts neither the file as a kernel nor the option.
        ("text", [], "QEMU ended with code 1"),
        ("bare", ["--", "-no-such-option"], "QEMU ended with code 1"),
        # The processor halts at once.
        ("bare", ["--start-within", "1", "--", "-S"], "within 1 seconds"),
    ],
)
def test_systems_without_a_start_mark_are_errors(
    files: dict[str, Path], kernel: str, words: list[str], why: str
) -> None:
    _is_refused(_record(files, kernel, "image", *words), files, why)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--via", "qemu-system", "--kernel", "k"], "needs --kernel and --initramfs"),
        (["--kernel", "k", "--", "true"], "--kernel goes with --via qemu-system"),
        (["--memory", "512", "--", "true"], "--memory goes with --via qemu-system"),
        (["--fetches", "--", "true"], "--fetches goes with --via qemu or qemu-system,"),
        *(
            (["--via", "qemu-system", "--kernel", "k", "--initramfs", "i", *more], more[0])
            for more in (
                *(["--quantum", "100"], ["--seed", "1"], ["--repeat", "2"], ["--native"]),
                *(["--order", "deterministic"], ["--sysroot", "/"]),
            )
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str], complaint: str) -> None:
    line = [sys.executable, "-m", "homenode", "record", "-o", "/no/such/t.hnt", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert complaint in done.stderr

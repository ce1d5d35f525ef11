"""Names and lines of a stripped program whose debug information is in a separate file."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder, Recording

OBJCOPY = shutil.which("objcopy") or ""

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or not OBJCOPY,
    reason="gcc or binutils are not installed",
)


@pytest.fixture
def stripped(build: Builder, tmp_path: Path) -> Path:
    """A stripped program, with a link to its debug information beside it."""
    debug, program = tmp_path / "stripped.debug", tmp_path / "stripped"
    whole = build("exact.c", "-g")
    link = f"--add-gnu-debuglink={debug}"
    for flags, target in ((["--only-keep-debug"], debug), (["--strip-all", link], program)):
        subprocess.run([OBJCOPY, *flags, str(whole), str(target)], check=True)
    return program


def _functions(recording: Recording) -> set[str]:
    return {line["function"] for line in recording.metadata()["lines"]}


def test_lines_and_objects_are_named(stripped: Path, record: Recorder) -> None:
    found = record(stripped)
    assert "main" in _functions(found)
    assert any(line["file"].endswith("exact.c") for line in found.metadata()["lines"])
    assert found.metadata()["provenance"] == ["record"]


def test_a_debug_file_of_another_build_is_reported(stripped: Path, record: Recorder) -> None:
    debug = stripped.with_suffix(".debug")
    whole = debug.read_bytes()
    debug.write_bytes(whole[: len(whole) // 2])
    found = record(stripped)
    assert any(name.startswith("[stripped+0x") for name in _functions(found))
    assert "main" not in _functions(found)
    [how, why] = found.metadata()["provenance"]
    assert how == "record"
    assert why.startswith(f"not used: {debug}")

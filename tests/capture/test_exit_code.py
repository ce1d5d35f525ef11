"""`homenode record` ends as the recorded program does."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

import homenode as hn

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder
    from support.command import Command, Outcome


@pytest.fixture(params=["cc", "qemu"])
def recorded(
    request: pytest.FixtureRequest,
    build: Builder,
    compiled: Builder,
    program: Command,
    tmp_path: Path,
) -> Command:
    """Records endings.c in one of the ways; words before `--` are options."""
    if request.param == "cc":
        ending = build("endings.c")
    else:
        if shutil.which("qemu-x86_64") is None:
            pytest.skip("qemu-user is not installed")
        ending = compiled("endings.c")

    def run(*options: str, how: str) -> Outcome:
        words = ["record", "--via", request.param, *options, "-o", tmp_path / "t.hnt"]
        return program(*words, "--", ending, how)

    return run


@pytest.mark.parametrize(
    ("how", "code"), [("exit", 11), ("_exit", 12), ("kill", 128 + 9), ("abort", 128 + 6)]
)
def test_the_exit_code_is_the_programs(
    recorded: Command, tmp_path: Path, how: str, code: int
) -> None:
    made = recorded(how=how)
    assert made.code == code, made.err
    assert made.out == "started\n"
    assert "homenode: error" not in made.err
    assert hn.Trace.open(tmp_path / "t.hnt").references > 1000


def test_the_summary_has_the_code_too(recorded: Command) -> None:
    made = recorded("--json", how="exit")
    assert made.code == json.loads(made.out)["exit_code"] == 11
    made = recorded("--json", how="kill")
    assert made.code == 128 + json.loads(made.out)["signal"] == 137


def test_of_several_recordings_the_first_code_that_is_not_zero(
    build: Builder, program: Command, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    script = tmp_path / "run.sh"
    script.write_text(
        f"#!/bin/sh\n{build('racy.c')}\nprintf x >> {count}\n"
        f"case $(wc -c < {count}) in 1) exit 0;; 2) exit 3;; *) exit 4;; esac\n"
    )
    script.chmod(0o755)
    made = program("record", "--json", "--repeat", 3, "-o", tmp_path / "t.hnt", "--", script)
    assert made.code == 3, made.err
    assert [one["exit_code"] for one in json.loads(made.out)] == [0, 3, 4]


def test_recording_from_python_does_not_raise(build: Builder, tmp_path: Path) -> None:
    trace = hn.Trace.record([str(build("endings.c")), "exit"], tmp_path / "t.hnt")
    assert trace.metadata["exit_code"] == 11

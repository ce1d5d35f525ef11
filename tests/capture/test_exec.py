"""Programs that a recorded program executes, and children: recorded, or said to be missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn
from homenode import _core
from homenode.capture.recording import interpreted

if TYPE_CHECKING:
    from conftest import Builder, Qemu, Recorder
    from support.command import Command, Printed

_SYSROOT = "/usr/aarch64-linux-gnu"

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def _metadata(path: str) -> dict[str, Any]:
    return json.loads(_core.trace_metadata(path))


@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_what_exec_starts_has_a_trace(compiled: Builder, emulate: Recorder, order: str) -> None:
    program = compiled("executes.c")
    made = emulate(program, order=order)
    assert (made.out, made.summary["exit_code"], made.summary["executions"]) == ("given\n", 3, 0)
    (child,) = made.summary["children"]
    about = _metadata(child)
    assert about["provenance"] == ["record", "program of exec"]
    assert about["arguments"] == ["second"]
    assert about["tool"] == made.metadata()["tool"]
    assert (made.touching("before")["kind"] == 1).sum() == 100
    found = {r["name"] for r in about["ranges"] if r["kind"] == "static"}
    assert "after" in found
    if order == "deterministic":
        again = emulate(program)
        assert _checksum(again.summary["children"][0]) == _checksum(child)


def test_children_are_numbered_without_gaps(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("spawns.c"))
    stem = made.path.name.removesuffix(".hnt")
    names = [Path(name).name.removeprefix(stem) for name in made.summary["children"]]
    assert [name for name in names if name.count(".") == 2] == [".1.hnt", ".2.hnt"]


def _checksum(path: str) -> str:
    line = [sys.executable, "-m", "homenode", "info", "--json", path]
    shown = subprocess.run(line, capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["checksum"]


def test_a_child_that_executes_has_two_traces(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("executes.c"), "child")
    assert made.summary["exit_code"] == 3
    origins = [_metadata(path)["provenance"][1] for path in made.summary["children"]]
    assert origins == ["child of fork", "program of exec"]
    assert made.summary["children"][1].endswith(".1.1.hnt")


def test_a_script_runs_in_its_interpreter(
    compiled: Builder, emulate: Recorder, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh -e\necho in a script; exit 7\n")
    script.chmod(0o755)
    made = emulate(compiled("executes.c"), "other", str(script))
    assert (made.out, made.summary["exit_code"]) == ("in a script\n", 7)
    about = _metadata(made.summary["children"][0])
    assert about["program"] == "/bin/sh"
    assert about["arguments"] == ["-e", str(script)]


def test_a_script_can_be_recorded(qemu: Qemu, program: Command, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text('#!/bin/sh -e\necho "$1" of $0; exit 7\n')
    script.chmod(0o755)
    emulator = [word for word in ("--emulator", qemu.emulator()) if qemu.emulator()]
    trace = tmp_path / "t.hnt"
    made = program(
        "record", "--json", "--via", "qemu", *emulator, "-o", trace, "--", script, "word"
    )
    assert made.code == 7
    assert f"word of {script}\n" in made.err
    about = _metadata(str(trace))
    assert (about["program"], about["arguments"]) == ("/bin/sh", ["-e", str(script), "word"])


@pytest.mark.parametrize(
    ("line", "begin"),
    [
        ("#!/bin/sh\n", ["/bin/sh"]),
        ("#!/bin/sh", ["/bin/sh"]),
        ("#! \t/usr/bin/env  -S a\tb \n", ["/usr/bin/env", "-S a\tb"]),
        ("#!\n", []),
        ("#!/bin/sh\0 -e\n", ["/bin/sh"]),
        (f"#!/bin/sh {300 * 'x'}\n", ["/bin/sh", 245 * "x"]),
        (f"#!/{256 * 'x'}\n", []),
        ("\x7fELF", []),
    ],
)
def test_a_script_has_the_interpreter_that_linux_finds(
    line: str, begin: list[str], tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text(line, newline="")
    script.chmod(0o755)
    assert interpreted([str(script), "a", "b"]) == [*begin, str(script), "a", "b"]
    other = tmp_path / "other"
    other.write_text(f"#!{script} -x\n")
    other.chmod(0o755)
    assert interpreted([str(other)]) == [*begin, str(script), "-x", str(other)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("#!/bin/sh\r\n", r"script: .*'/bin/sh\\r'.*Windows; correct the line"),
        ("#!sh\n", r"script: .*'\./sh', is no program that can be executed; correct"),
    ],
)
def test_an_interpreter_that_cannot_run_is_named_with_its_script(
    line: str, said: str, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text(line, newline="")
    script.chmod(0o755)
    with pytest.raises(hn.ConfigError, match=said):
        interpreted([str(script)])


def test_an_exec_that_fails_changes_nothing(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("executes.c"), "missing")
    assert made.summary["exit_code"] == 4
    assert (made.summary["children"], made.summary["executions"]) == ([], 0)
    assert made.metadata()["provenance"] == ["record"]


def test_a_program_of_another_machine_is_said_to_be_missing(
    compiled: Builder, emulate: Recorder
) -> None:
    program = compiled("executes.c", machine="aarch64")
    made = emulate(program, "other", "/bin/true", machine="aarch64", sysroot=_SYSROOT)
    assert (made.summary["exit_code"], made.summary["executions"]) == (0, 1)
    assert made.summary["children"] == []
    assert "exec" in made.metadata()["provenance"][1]


@pytest.mark.parametrize("flags", [(), ("-static",)])
def test_hooks_say_what_is_missing(
    build: Builder, record: Recorder, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    program = build("executes.c", *flags)
    made = record(program)
    assert (made.out, made.summary["exit_code"]) == ("given\n", 3)
    assert (made.summary["executions"], made.summary["unrecorded_children"]) == (1, 0)
    made = record(program, "child")
    assert (made.summary["executions"], made.summary["unrecorded_children"]) == (0, 1)
    assert made.metadata()["provenance"][1] == "child processes not recorded: 1"
    made = record(program, "missing")
    assert (made.summary["exit_code"], made.summary["executions"]) == (4, 0)
    line = [sys.executable, "-m", "homenode", "record", "-o", str(tmp_path / "t.hnt")]
    done = subprocess.run([*line, "--", str(program)], capture_output=True, text=True, check=False)
    assert "in its place (exec) is not recorded; --via qemu" in done.stderr


@pytest.mark.parametrize("flags", [(), ("-static",)])
@pytest.mark.parametrize("way", ["spawn", "spawnp", "popen", "system"])
def test_hooks_count_children_of_calls_that_execute(
    way: str, build: Builder, record: Recorder, natively: Printed, flags: tuple[str, ...]
) -> None:
    program = build("makes_children.c", *flags)
    made = record(program, way)
    assert (made.out, made.summary["exit_code"]) == (natively(program, way), 0)
    assert (made.summary["executions"], made.summary["unrecorded_children"]) == (0, 1)
    assert ["fork", "1"] in [words[1:] for words in made.events()]


@pytest.mark.parametrize(("way", "code"), [("missing", 7), ("shell", 0)])
def test_hooks_count_no_child_that_is_not_made(
    way: str, code: int, build: Builder, record: Recorder
) -> None:
    made = record(build("makes_children.c"), way)
    assert (made.summary["exit_code"], made.summary["unrecorded_children"]) == (code, 0)

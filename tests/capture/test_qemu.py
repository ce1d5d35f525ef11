"""Unmodified programs, recorded in QEMU's user-mode emulation."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from homenode import _core

if TYPE_CHECKING:
    from conftest import Builder, Qemu, Recorder, Recording
    from support.command import Command, Printed


PROGRAMS = Path(__file__).parent / "programs"
_READ, _WRITE, _ATOMIC, _FETCH = range(4)
_PRIVATE, _SYNC = 1, 2

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _counts(columns: dict[str, np.ndarray], kind: int) -> list[int]:
    """References of a kind by thread."""
    return np.bincount(columns["thread"][columns["kind"] == kind], minlength=2).tolist()


@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_every_reference_is_recorded_once(compiled: Builder, emulate: Recorder, order: str) -> None:
    made = emulate(compiled("exact.c"), order=order)
    assert made.out == "2000 3000\n"
    assert made.summary["exit_code"] == 7
    assert _counts(made.touching("written"), _WRITE) == [1000, 1000]
    assert _counts(made.touching("looked_at"), _READ) == [1000, 1000]
    for name in ("counted", "swapped"):
        touching = made.touching(name)
        assert _counts(touching, _ATOMIC) == [1000, 1000], name
        atomic = touching["kind"] == _ATOMIC
        assert (touching["flags"][atomic] == _SYNC).all(), name
    assert made.touching("written")["size"].max() == 8
    assert made.metadata()["method"] == "qemu"
    assert "qemu-x86_64" in made.metadata()["tool"]
    assert any(line["file"].endswith("exact.c") for line in made.metadata()["lines"])


def test_stacks_and_thread_local_storage_are_private(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("exact.c"))
    columns = made.columns()
    ranges = made.metadata()["ranges"]
    stacks = {r["thread"]: r for r in ranges if r["kind"] == "stack"}
    assert set(stacks) == {0, 1}
    for thread, stack in stacks.items():
        inside = (columns["addr"] >= stack["start"]) & (
            columns["addr"] < stack["start"] + stack["size"]
        )
        own = inside & (columns["thread"] == thread)
        assert (columns["flags"][own] & _PRIVATE).mean() > 0.9
    # With a debug package, the libraries have lines too.
    own = (line for line in made.metadata()["lines"] if line["file"].endswith("exact.c"))
    lines = {line["pc"]: line for line in own}
    text = (PROGRAMS / "exact.c").read_text().splitlines()
    number = next(i for i, line in enumerate(text, 1) if "own = i" in line)
    of_line = [
        i
        for i, pc in enumerate(columns["pc"].tolist())
        if lines.get(pc, {}).get("line") == number and columns["kind"][i] == _WRITE
    ]
    assert len(of_line) == 2000
    assert (columns["flags"][of_line] == _PRIVATE).all()


@pytest.mark.parametrize(
    "source",
    [
        "pthreads.c",
        "many.c",
        "crowd.c",
        "reuse.c",
        "spin.c",
        "c11.c",
        "sleeps.c",
        "blocks.c",
    ],
)
def test_two_recordings_are_the_same_bytes(
    compiled: Builder, emulate: Recorder, natively: Printed, source: str
) -> None:
    program = compiled(source)
    one, two = emulate(program), emulate(program)
    assert one.out == two.out == natively(program)
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.metadata()["order"] == "deterministic quantum=100 repeatable"
    other = emulate(program, quantum=17)
    assert other.out == one.out


def test_openmp(compiled: Builder, emulate: Recorder) -> None:
    program = compiled("openmp.c", "-fopenmp")
    one, two = emulate(program), emulate(program)
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.summary["threads"] == 4


def test_numbers_are_used_again_when_threads_are_joined(
    compiled: Builder, emulate: Recorder
) -> None:
    assert emulate(compiled("reuse.c")).summary["threads"] == 9
    assert emulate(compiled("many.c")).summary["threads"] == 65


def test_a_thread_waits_for_another_one_at_a_pipe(
    compiled: Builder, emulate: Recorder, natively: Printed
) -> None:
    program = compiled("pipes.c")
    assert emulate(program).out == natively(program)


def test_signals_reach_the_program(compiled: Builder, emulate: Recorder, natively: Printed) -> None:
    program = compiled("signals.c")
    assert emulate(program).out == natively(program)


@pytest.mark.parametrize(
    ("how", "code", "signal"),
    [("exit", 11, None), ("_exit", 12, None), ("kill", None, 9), ("exec", 15, None)],
)
def test_however_a_program_ends_its_trace_is_whole(
    compiled: Builder, emulate: Recorder, how: str, code: int | None, signal: int | None
) -> None:
    made = emulate(compiled("endings.c"), how)
    assert (made.summary["exit_code"], made.summary["signal"]) == (code, signal)
    assert made.out.startswith("started\n")
    start, size = made.symbol("last")
    columns = made.columns()
    last = (columns["addr"] == start + size - 8) & (columns["kind"] == _WRITE)
    assert last.sum() >= 1


def test_a_fault_ends_the_program_and_not_the_trace(compiled: Builder, emulate: Recorder) -> None:
    for how, signal in (("abort", 6), ("segv", 11)):
        made = emulate(compiled("endings.c"), how)
        assert made.summary["signal"] == signal
        assert made.touching("last")["addr"].size >= 1000


def test_the_environment_is_the_same_in_every_recording(
    compiled: Builder, emulate: Recorder
) -> None:
    program = compiled("inputs.c")
    one, two = emulate(program), emulate(program)
    assert one.out == two.out
    assert one.out.startswith("17672256")
    assert "slept 1" in one.out
    assert one.path.read_bytes() == two.path.read_bytes()


def test_input_and_processors_are_the_programs_own(
    compiled: Builder, program: Command, qemu: Qemu, tmp_path: Path
) -> None:
    inputs = compiled("inputs.c")
    words = ["record", "--via", "qemu", "--emulator", qemu.emulator(), "-o", tmp_path / "t.hnt"]
    line = [str(inputs), "said"]
    native = subprocess.run(line, input="hello\n", capture_output=True, text=True, check=True)
    made = program(*words, "--", inputs, "said", stdin="hello\n")
    assert made.code == 0, made.err
    assert made.out == native.stdout
    assert "references" in made.err


def test_gaps_count_the_instructions_between(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("exact.c"), fetches=True)
    assert made.summary["references"] < made.columns()["addr"].size
    kinds = made.columns()["kind"]
    fetches = int((kinds == _FETCH).sum())
    plain = emulate(compiled("exact.c"))
    batches = list(_core.read_batches(str(plain.path), ["gap", "pc", "thread"]))
    gap = np.concatenate([b["gap"] for b in batches])
    pc = np.concatenate([b["pc"] for b in batches])
    # An instruction with two references (push of a word in memory) is counted once.
    same = np.concatenate([[False], (pc[1:] == pc[:-1]) & (gap[1:] == 0)])
    counted = int(gap.sum()) + int((~same).sum())
    assert abs(counted - fetches) < 0.02 * fetches


@pytest.mark.parametrize("flags", [("-static",), ("-no-pie",)])
def test_programs_at_fixed_addresses(
    compiled: Builder, emulate: Recorder, flags: tuple[str, ...]
) -> None:
    made = emulate(compiled("exact.c", *flags))
    assert made.out == "2000 3000\n"
    assert _counts(made.touching("written"), _WRITE) == [1000, 1000]
    assert _counts(made.touching("counted"), _ATOMIC) == [1000, 1000]


@pytest.mark.parametrize("machine", ["aarch64", "riscv64"])
@pytest.mark.parametrize("flags", [("-static",), ()])
def test_other_instruction_sets(
    compiled: Builder, emulate: Recorder, machine: str, flags: tuple[str, ...]
) -> None:
    program = compiled("exact.c", *flags, machine=machine)
    options = {"machine": machine, "sysroot": f"/usr/{machine}-linux-gnu"}
    one, two = (emulate(program, **options) for _ in range(2))
    assert one.out == "2000 3000\n"
    assert one.path.read_bytes() == two.path.read_bytes()
    assert _counts(one.touching("written"), _WRITE) == [1000, 1000]
    assert _counts(one.touching("counted"), _ATOMIC) == [1000, 1000]
    assert f"qemu-{machine}" in one.metadata()["tool"]


@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_a_child_process_has_a_trace_of_its_own(
    compiled: Builder, emulate: Recorder, order: str
) -> None:
    made = emulate(compiled("process.c"), order=order)
    assert made.out == "500 3\n"
    assert ["0", "fork", "1"] in made.events()
    assert len(made.summary["children"]) == 1
    child = type(made)({}, Path(made.summary["children"][0]), "")
    assert child.path.name == made.path.name.replace(".hnt", ".1.hnt")
    shared = [_range(one, "anonymous:1") for one in (made, child)]
    assert shared[0] == shared[1]
    columns = child.columns()
    inside = (columns["addr"] >= shared[1][0]) & (columns["addr"] < sum(shared[1]))
    assert _counts({name: c[inside] for name, c in columns.items()}, _WRITE)[0] == 500
    assert columns["addr"].size < made.columns()["addr"].size
    assert child.metadata()["provenance"] == ["record", "child of fork"]


def test_the_childs_trace_repeats(compiled: Builder, emulate: Recorder) -> None:
    program = compiled("process.c")
    names = [emulate(program).summary["children"][0] for _ in range(2)]
    one, two = (Path(name).read_bytes() for name in names)
    assert one == two


def _range(made: Recording, name: str) -> tuple[int, int]:
    """Start and size of a named mapping."""
    found = [r for r in made.metadata()["ranges"] if r.get("name") == name]
    assert len(found) == 1
    return found[0]["start"], found[0]["size"]


def test_what_cannot_be_emulated_is_refused(
    compiled: Builder, program: Command, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    start = ["record", "--via", "qemu", "-o", tmp_path / "t.hnt"]
    for text, problem in (("#! \necho\n", "a script"), ("echo\n", "no ELF program")):
        script.write_text(text)
        script.chmod(0o755)
        refused = program(*start, "--", script)
        assert refused.code == 2
        assert problem in refused.err
    refused = program(*start, "--emulator", "/bin/true", "--", compiled("exact.c"))
    assert refused.code == 2
    assert "7.2" in refused.err
    static = tmp_path / "qemu-x86_64"
    static.write_text("#!/bin/sh\n[ $1 = -help ] || echo qemu-x86_64 version 10.0.2\n")
    static.chmod(0o755)
    refused = program(*start, "--emulator", static, "--", compiled("exact.c"))
    assert refused.code == 2
    assert "without plugins" in refused.err
    refused = program(*start, "--", tmp_path / "nothing")
    assert refused.code == 2
    assert "cannot start" in refused.err
    assert not (tmp_path / "t.hnt").exists()


def test_the_summary_is_json(compiled: Builder, program: Command, tmp_path: Path) -> None:
    words = ["record", "--json", "--via", "qemu", "--native", "-o", tmp_path / "t.hnt"]
    made = program(*words, "--", compiled("exact.c"))
    summary = json.loads(made.out)
    assert made.code == summary["exit_code"] == 7
    assert summary["slowdown"] > 0
    assert "2000 3000" in made.err

"""The environment of an unmodified program is repeatable: time, random numbers, load."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Builder, Recorder, Recording


_MACHINES = ["x86_64", "aarch64", "riscv64"]


pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _memory_total() -> str:
    return Path("/proc/meminfo").read_text().splitlines()[0]


@pytest.fixture
def twice(compiled: Builder, emulate: Recorder) -> Recorder:
    """Compiles and records a program twice; the first recording, when the second is the same."""

    def run(source: str, *words: str, machine: str = "x86_64", **options: Any) -> Recording:
        program = compiled(source, machine=machine)
        if machine != "x86_64":
            options["sysroot"] = f"/usr/{machine}-linux-gnu"
        total = _memory_total()
        one, two = (emulate(program, *words, machine=machine, **options) for _ in "12")
        if _memory_total() != total:
            pytest.skip("the hypervisor has changed the memory of this machine")
        assert one.out == two.out
        assert one.path.read_bytes() == two.path.read_bytes()
        return one

    return run


@pytest.mark.parametrize("machine", _MACHINES)
def test_what_a_program_measures_repeats(twice: Recorder, machine: str) -> None:
    made = twice("measures.c", machine=machine)
    assert made.summary["exit_code"] == 0, made.out
    assert made.out.endswith("\nok\n")
    assert made.metadata()["order"] == "deterministic quantum=100 repeatable"


def test_a_child_draws_numbers_of_its_own(twice: Recorder) -> None:
    made = twice("measures.c", "child")
    assert made.summary["exit_code"] == 0, made.out
    assert "used 0 0" in made.out


def test_queries_of_process_numbers_are_counted(
    compiled: Builder, emulate: Recorder, tmp_path: Path
) -> None:
    source = tmp_path / "asks.c"
    source.write_text("#include <unistd.h>\nint main(void) { return getpid() + gettid() <= 0; }\n")
    made = emulate(compiled(source))
    assert made.summary["process_numbers"] == 2
    assert made.metadata()["order"].endswith(" repeatable but for process numbers")


def test_in_free_order_random_numbers_are_real(
    compiled: Builder, emulate: Recorder, tmp_path: Path
) -> None:
    source = tmp_path / "canary.c"
    source.write_text(
        """#include <stdio.h>
#include <sys/auxv.h>
int main(void) { return printf("%lx", *(unsigned long *)getauxval(AT_RANDOM)) == 0; }
"""
    )
    program = compiled(source)
    assert emulate(program, order="free").out != emulate(program, order="free").out
    assert emulate(program).out == emulate(program).out


def test_in_free_order_time_is_real(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("inputs.c"), order="free")
    assert not made.out.startswith("17672256")
    assert "slept 1" in made.out

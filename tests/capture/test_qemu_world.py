"""What the world tells an unmodified program is the same in every recording: time, chance, load."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Recording

    Recorder = Callable[..., Recording]

PROGRAMS = Path(__file__).parent / "programs"
_MACHINES = ["x86_64", "aarch64", "riscv64"]

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _compile(source: str, target: Path, machine: str = "x86_64") -> Path:
    compiler = "gcc" if machine == "x86_64" else f"{machine}-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    line = [compiler, "-O1", "-w", str(PROGRAMS / source), "-o", str(target), "-pthread"]
    subprocess.run(line, check=True)
    return target


@pytest.fixture
def twice(emulate: Recorder, tmp_path: Path) -> Recorder:
    """Compiles and records a program twice; the first recording, when the second is the same."""

    def run(source: str, *words: str, machine: str = "x86_64", **options: Any) -> Recording:
        program = _compile(source, tmp_path / "program", machine)
        if machine != "x86_64":
            options["sysroot"] = f"/usr/{machine}-linux-gnu"
        one, two = (emulate(program, *words, machine=machine, **options) for _ in "12")
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


def test_who_asks_for_process_numbers_is_told_on(emulate: Recorder, tmp_path: Path) -> None:
    source = tmp_path / "asks.c"
    source.write_text("#include <unistd.h>\nint main(void) { return getpid() + gettid() <= 0; }\n")
    program = _compile(str(source), tmp_path / "asks")
    made = emulate(program)
    assert made.summary["process_numbers"] == 2
    assert made.metadata()["order"].endswith(" repeatable but for process numbers")


def test_in_free_order_time_is_real(emulate: Recorder, tmp_path: Path) -> None:
    program = _compile("world.c", tmp_path / "program")
    made = emulate(program, order="free")
    assert not made.out.startswith("17672256")
    assert "slept 1" in made.out

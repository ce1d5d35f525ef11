"""Marks of a natively built program, and its environment, in QEMU."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from homenode.capture import plugin

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Builder, Recorder, Recording


_HEADERS = plugin.SOURCES.parent / "runtime" / "include"
_PRIVATE = 1
_MARKS = ("init-done", "phase", "marker")

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _marks(made: Recording) -> list[list[str]]:
    return [words for words in made.events() if words[1] in _MARKS]


@pytest.mark.parametrize(
    ("machine", "order", "flags"),
    [
        ("x86_64", "deterministic", ()),
        ("x86_64", "free", ("-static",)),
        ("x86_64", "deterministic", ("-masm=intel",)),
        ("aarch64", "deterministic", ()),
        ("riscv64", "deterministic", ()),
    ],
)
def test_marks_are_those_of_the_instrumented_program(
    build: Builder,
    compiled: Builder,
    record: Recorder,
    emulate: Recorder,
    machine: str,
    order: str,
    flags: tuple[str, ...],
) -> None:
    program = compiled("marks.c", *flags, machine=machine)
    sysroot = {} if machine == "x86_64" else {"sysroot": f"/usr/{machine}-linux-gnu"}
    made = emulate(program, machine=machine, order=order, **sysroot)
    assert made.out == "1 9\n"
    wanted = _marks(record(build("marks.c")))
    assert len(wanted) == 3
    assert _marks(made) == wanted
    touching = made.touching("declared")
    assert touching["flags"].tolist() == [_PRIVATE]


def test_marks_repeat_and_stand_where_the_program_says(
    compiled: Builder, emulate: Recorder
) -> None:
    program = compiled("marks.c")
    # With short turns, some end at a mark.
    for quantum in (7, 100):
        one, two = (emulate(program, quantum=quantum) for _ in range(2))
        assert one.path.read_bytes() == two.path.read_bytes()
        assert len(_marks(one)) == 3
    named = [words[1] for words in one.events()]
    assert named.index("init-done") < named.index("thread-create") < named.index("phase")


@pytest.mark.parametrize(
    "words",
    [
        ["gcc", "-x", "c", "-std=c99", "-pedantic"],
        ["gcc", "-x", "c", "-std=c11", "-m32"],
        ["gcc", "-x", "c", "-mx32"],
        ["g++", "-x", "c++", "-std=c++11", "-pedantic"],
        ["clang", "-x", "c", "-std=c11", "-pedantic"],
        ["clang", "-x", "c", "--target=aarch64-linux-gnu"],
    ],
)
def test_the_header_compiles_everywhere(words: list[str], tmp_path: Path) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    source = tmp_path / "source"
    source.write_text(
        '#include <homenode.h>\nint main(void) { homenode_init_done(); homenode_marker("a"); '
        "homenode_phase(1); homenode_private(0, 0); return 0; }\n"
    )
    line = [*words, "-Wall", "-Wextra", "-Werror", f"-I{_HEADERS}", "-c", str(source)]
    subprocess.run([*line, "-o", str(tmp_path / "object")], check=True)


def test_the_stack_is_where_it_always_is(
    compiled: Builder, emulate: Recorder, tmp_path: Path
) -> None:
    program = compiled("environment.c")
    several = [
        {},
        {"HN_TEST": "y"},
        {"HN_TEST": 1000 * "y"},
        {"HN_TEST": 20_000 * "y", "HN_OTHER": "", "HN_THIRD": "y"},
        {"HN_TEST": 5 * "y", "HN_OTHER": 20 * "y"},
    ]
    said = [emulate(program, environment=more).out for more in several]
    assert len(set(said)) == 1, said
    assert said[0].endswith(" 0\n")
    renamed = shutil.copy2(program, tmp_path / "another-name-of-the-program")
    assert emulate(renamed).out == said[0]

"""A recorded program has the allocator of the plain one, and its blocks have names."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import PROGRAMS
from homenode.capture import compilers

if TYPE_CHECKING:
    from conftest import Recorder

_POOL = 0x200000000000
_LIBRARIES = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"]
# Forms of allocation, but for blocks that the C library itself gets from a program's own function.
_FORMS = {"preloaded": 20, "shared": 20, "archive": 16, "object": 16}


def _build(folder: Path, hooks: str, *words: str) -> Path:
    program = folder / f"{hooks}.out"
    line = ["-O1", "-g", "-w", str(PROGRAMS / "allocations.cpp"), *words, "-pthread"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMENODE_HOOKS", hooks)
        assert compilers.compile("c++", [*line, "-o", str(program)]) == 0
    return program


def _plain(folder: Path, *words: str) -> Path:
    program = folder / "plain.out"
    line = ["g++", "-O1", "-w", str(PROGRAMS / "allocations.cpp"), *words, "-pthread"]
    subprocess.run([*line, "-o", str(program)], check=True)
    return program


def _output(program: Path, *environment: str) -> str:
    line = ["/usr/bin/env", *environment, str(program)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The allocator as a shared library, an archive, an object; the same with C++'s operators."""
    folder = tmp_path_factory.mktemp("pool")
    for name, words in (("pool", []), ("operators", ["-DOPERATORS"])):
        built = folder / f"{name}.o"
        source = str(PROGRAMS / "pool_allocator.c")
        line = ["gcc", "-O1", "-w", "-fPIC", "-fno-builtin", *words, "-c", source]
        subprocess.run([*line, "-o", str(built)], check=True)
        shared = str(folder / f"lib{name}.so")
        archive = str(folder / f"lib{name}.a")
        for line in (
            ["gcc", "-shared", str(built), "-o", shared],
            ["ar", "rc", archive, str(built)],
        ):
            subprocess.run(line, check=True)
    return folder


@pytest.mark.parametrize(("name", "hooks"), [("pool", "compiler"), ("operators", "assembly")])
@pytest.mark.parametrize("how", ["preloaded", "shared", "archive", "object"])
def test_the_allocator_is_that_of_the_plain_program(
    pool: Path, tmp_path: Path, record: Recorder, how: str, name: str, hooks: str
) -> None:
    environment = [f"LD_PRELOAD={pool}/lib{name}.so"] if how == "preloaded" else []
    words = {
        "preloaded": [],
        "shared": [f"-L{pool}", f"-l{name}", f"-Wl,-rpath,{pool}"],
        "archive": [f"{pool}/lib{name}.a"],
        "object": [f"{pool}/{name}.o"],
    }[how]
    expected = _output(_plain(tmp_path, *words), *environment)
    program = _build(tmp_path, hooks, *words)
    assert _output(program, *environment) == expected
    recording = record(Path("/usr/bin/env"), *environment, str(program))
    assert recording.out == expected
    metadata = recording.metadata()
    blocks = [one for one in metadata["ranges"] if one["kind"] == "heap"]
    line_of = {one["pc"]: one["line"] for one in metadata["lines"]}
    lines = {line_of[one["site"]] for one in blocks if one["start"] >= _POOL}
    assert len(lines) >= _FORMS[how], "each form of allocation is named by its line"


@pytest.mark.parametrize("library", _LIBRARIES)
def test_well_known_allocators(tmp_path: Path, record: Recorder, library: str) -> None:
    if not any(Path("/usr/lib").glob(f"*/{library}")):
        pytest.skip(f"{library} is not installed")
    # jemalloc leaves pvalloc to the C library, so its blocks cannot be freed.
    program = _build(tmp_path, "compiler", "-DWITHOUT_PVALLOC")
    recording = record(Path("/usr/bin/env"), f"LD_PRELOAD={library}", str(program))
    assert recording.out.endswith("done\n")

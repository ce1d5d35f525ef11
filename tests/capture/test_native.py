"""The uninstrumented twin of a program, and what `record --native` times."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from homenode.capture import compilers
from support.command import Command

_MAIN = """#include <homenode.h>
#include <stdio.h>
long twice(long);
int main(void) { homenode_phase(1); printf("%ld\\n", twice(21)); return 3; }
"""
_PART = "static long last;\nlong twice(long n) { last = n; return 2 * last; }\n"
_CXX = """#include <iostream>
#include <vector>
int main() { std::vector<int> all{1, 2}; all.push_back(4); std::cout << all.size() << "\\n"; }
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOMENODE_NATIVE", "1")
    Path("main.c").write_text(_MAIN)
    Path("part.c").write_text(_PART)
    Path("all.cpp").write_text(_CXX)


def _cc(*words: str, language: str = "c") -> None:
    assert compilers.compile(language, words) == 0


def _tool(name: str) -> str:
    found = shutil.which(name)
    assert found is not None
    return found


def _is_twin(program: str, said: str = "42\n", code: int = 3) -> bool:
    """Whether a program has a twin without hooks that does the same."""
    for name in (program, f"{program}.native"):
        done = subprocess.run([f"./{name}"], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == (said, code), name
    assert b"__tsan_" in Path(program).read_bytes()
    return b"__tsan_" not in Path(f"{program}.native").read_bytes()


def test_programs_in_one_step_and_in_several_have_twins() -> None:
    _cc("-O2", "main.c", "part.c", "-o", "one")
    assert _is_twin("one")
    _cc("-O2", "-c", "part.c", "-MD", "-MF", "part.d", "-MT", "part.o")
    _cc("-c", "main.c", "-o", "other.o")
    Path("moved").mkdir()
    Path("part.o").rename("moved/part.o")
    _cc("other.o", "moved/part.o")
    assert _is_twin("a.out")
    # Dependency files are those of the first compilation.
    assert Path("part.d").read_text().startswith("part.o: part.c")
    assert sorted(path.name for path in Path().glob("*.[do]")) == ["other.o", "part.d"]
    _cc("-O1", "all.cpp", "-o", "all", language="c++")
    assert _is_twin("all", "3\n", 0)


def test_the_program_itself_is_the_same_with_and_without_a_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("bin").mkdir()
    made = []
    for asked in ("1", "0"):
        monkeypatch.setenv("HOMENODE_NATIVE", asked)
        _cc("-c", "part.c")
        _cc("-c", "main.c")
        _cc("main.o", "part.o", "-o", "bin/prog")
        made.append(Path("bin/prog").read_bytes())
    assert made[0] == made[1]
    assert b".homenode.native" not in made[0]


@pytest.mark.parametrize("flags", ["rcs", "rcsT"])
def test_archives_and_relocatable_objects_carry_twins(flags: str) -> None:
    _cc("-c", "part.c")
    Path("lib").mkdir()
    subprocess.run([_tool("ar"), flags, "lib/libpart.a", "part.o"], check=True)
    _cc("main.c", "-Llib", "-lpart", "-o", "found")
    assert _is_twin("found")
    _cc("main.c", "lib/libpart.a", "-o", "named")
    assert _is_twin("named")
    _cc("-c", "main.c")
    _cc("-r", "main.o", "part.o", "-o", "both.o")
    _cc("both.o", "-o", "merged")
    assert _is_twin("merged")


def test_make_builds_a_twin(program: Command) -> None:
    Path("Makefile").write_text(
        "prog: main.o libpart.a\n\t$(CC) main.o -L. -lpart -o $@\n"
        "libpart.a: libpart.a(part.o)\n\tranlib $@\n"
    )
    cc = f"{sys.executable} -m homenode cc"
    subprocess.run([_tool("make"), f"CC={cc}"], check=True, capture_output=True)
    assert _is_twin("prog")
    made = program("record", "--json", "--native", "-o", "t.hnt", "--", "./prog")
    summary = json.loads(made.out)
    assert made.code == summary["exit_code"] == 3
    assert summary["slowdown"] == pytest.approx(summary["wall_time_s"] / summary["native_time_s"])
    # The program and its twin each ran once.
    assert made.err.count("42\n") == 1


def test_a_missing_twin_is_reported_and_the_program_built(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOMENODE_NATIVE")
    _cc("-c", "part.c")
    monkeypatch.setenv("HOMENODE_NATIVE", "1")
    _cc("main.c", "part.o", "-o", "prog")
    said = capfd.readouterr().err
    assert "homenode: prog has no uninstrumented twin: linking it failed: " in said
    assert "an object or library on the line was compiled without HOMENODE_NATIVE=1" in said
    assert Path("prog").exists()
    assert not Path("prog.native").exists()
    _cc("-shared", "-fPIC", "part.c", "-o", "libpart.so")
    _cc("main.c", "part.c", "-o", "/dev/null")
    assert not capfd.readouterr().err
    _cc("main.c", "-L.", "-lpart", "-o", "prog")
    assert "libpart.so is an instrumented shared library; link it as a" in capfd.readouterr().err
    assert not list(Path().glob("*.native"))


def test_an_object_stays_whole_where_its_twin_cannot_be_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HOMENODE_NATIVE")
    _cc("-c", "part.c", "-o", "whole.o")
    tool = tmp_path / "bin" / "objcopy"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\nfor last; do :; done\necho half >"$last"; echo full >&2; exit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOMENODE_NATIVE", "1")
    _cc("-c", "part.c", "-o", "part.o")
    assert "part.o has no uninstrumented twin: objcopy failed: full" in capfd.readouterr().err
    assert Path("part.o").read_bytes() == Path("whole.o").read_bytes()


def test_a_precompiled_header_needs_no_twin(capfd: pytest.CaptureFixture[str]) -> None:
    Path("all.h").write_text("long twice(long);\n")
    _cc("-x", "c-header", "-c", "all.h", "-o", "all.h.gch")
    assert capfd.readouterr().err == ""
    assert Path("all.h.gch").exists()


def test_a_program_without_a_twin_is_not_timed(program: Command) -> None:
    _cc("main.c", "part.c", "-o", "prog")
    plain = Path("prog.native").rename("plain")
    record = ["record", "-o", "t.hnt"]

    def refused(*words: object) -> str:
        done = program(*record, *words, "--", "./prog")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert not Path("t.hnt").exists()
        return done.err

    said = refused("--native")
    assert "no uninstrumented program to time: ./prog.native does not exist; build with " in said
    assert "HOMENODE_NATIVE=1 in the environment, or name a program with --native-program" in said
    assert "--native-program ./none: there is no such" in refused("--native-program", "./none")
    assert "--native-program ./prog is instrumented" in refused("--native-program", "./prog")
    assert "--via cc" in refused("--via", "qemu", "--native-program", "./plain")
    plain.rename("prog.native")
    os.utime("prog.native", (1, 1))
    assert "./prog.native is older than ./prog" in refused("--native")

    made = program(*record, "--json", "--native-program", "./prog.native", "--", "./prog")
    assert json.loads(made.out)["slowdown"] > 0

"""`homenode cc` must be a compiler like any other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from homenode.capture import assembly, build, compilers

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAMS / "plugin.c", "part.c")
    Path("main.c").write_text(
        "#include <homenode.h>\n#include <stdio.h>\nlong plugin_work(long);\n"
        'int main(void) { homenode_phase(1); printf("%ld\\n", plugin_work(100)); return 0; }\n'
    )


def _cc(*words: str) -> None:
    assert compilers.compile("c", list(words)) == 0


def _says(program: str) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_every_source_of_the_runtime_is_built() -> None:
    files = {path.stem for path in build.SOURCES.glob("*.c")}
    assert sorted(files) == sorted(build._RUNTIME)


def test_steps_apart_and_in_one() -> None:
    _cc("-c", "part.c")
    _cc("-O2", "-c", "main.c", "-o", "other.o")
    _cc("part.o", "other.o", "-o", "apart")
    _cc("main.c", "part.c")
    _cc("main.c", "part.o", "-o", "mixed", "-lm")
    assert [_says(f"./{name}") for name in ("apart", "a.out", "mixed")] == ["357\n"] * 3


def test_what_ends_before_the_link() -> None:
    _cc("-E", "main.c", "-o", "main.i")
    assert "homenode_phase_event" in Path("main.i").read_text()
    _cc("-S", "part.c")
    assert "plugin_work:" in Path("part.s").read_text()
    # Hooks come when the file is assembled.
    _cc("-c", "part.s")
    assert b"__homenode_" in Path("part.o").read_bytes()
    _cc("-MM", "main.c", "-MF", "main.d")
    assert "main.c" in Path("main.d").read_text()
    _cc("-c", "-MD", "part.c", "-o", "sub.o")
    assert Path("sub.d").exists()


def test_language_options_and_response_files() -> None:
    Path("part.c").rename("part.text")
    Path("words").write_text("-O1 -x c part.text -x none")
    _cc("main.c", "@words", "-o", "prog")
    assert _says("./prog") == "357\n"


@pytest.mark.parametrize("hooks", ["compiler", "assembly"])
@pytest.mark.parametrize("name", ["g++", "clang++"])
def test_fences_are_no_warning(monkeypatch: pytest.MonkeyPatch, name: str, hooks: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setenv("HOMENODE_CXX", name)
    monkeypatch.setenv("HOMENODE_HOOKS", hooks)
    fence = "std::atomic_thread_fence(std::memory_order_acq_rel);"
    Path("fence.cpp").write_text(f"#include <atomic>\nint main() {{ {fence} }}\n")
    assert compilers.compile("c++", ["-Wall", "-Wextra", "-Werror", "-O2", "fence.cpp"]) == 0


def test_questions_are_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    _cc("--version")
    assert "ree Software" in capfd.readouterr().out or shutil.which("gcc") is None


def test_errors_are_the_compilers_own(capfd: pytest.CaptureFixture[str]) -> None:
    Path("bad.c").write_text("int main(void) { return nothing; }\n")
    assert compilers.compile("c", ["bad.c"]) == 1
    assert "nothing" in capfd.readouterr().err


@pytest.mark.parametrize("word", ["-m32", "-fsanitize=address", "-fsanitize=undefined,leak"])
def test_what_cannot_run_with_the_recorder_is_refused(
    word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert compilers.compile("c", [word, "main.c"]) == 2
    assert word in capfd.readouterr().err
    _cc(word, "-dumpversion")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_other_sanitizers_are_not_refused() -> None:
    _cc("-fsanitize=undefined", "-fno-sanitize=address", "-c", "main.c")


def test_a_compiler_that_leads_back_to_the_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that exports CC as a script around homenode cc must not recurse."""
    script = Path("cc.sh")
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m homenode cc "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script.resolve()))
    # The runtime is compiled for each compiler, and this one is new.
    quick = tuple(word for word in build._FLAGS if word not in ("-O2", "-g"))
    monkeypatch.setattr(build, "_FLAGS", (*quick, "-O0"))
    _cc("main.c", "part.c", "-o", "prog")
    assert _says("./prog") == "357\n"


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
@pytest.mark.parametrize("command", ["clang", "env clang", "./linked"])
def test_clangs_openmp_is_refused(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("linked").symlink_to(str(shutil.which("clang")))
    monkeypatch.setenv("HOMENODE_CC", command)
    assert compilers.compile("c", ["-fopenmp", "main.c", "part.c"]) == 2
    assert "compile with gcc" in capfd.readouterr().err


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_folders_of_clang_are_no_clang() -> None:
    Path("clang").mkdir()
    assert not assembly.is_clang(["gcc", "-isystem", str(Path("clang").resolve())])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_compiler_is_asked_once_for_each_command(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Path("gcc.sh")
    script.write_text('#!/bin/sh\necho "$*" >> asked\nexec gcc "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("HOMENODE_CC", str(script.resolve()))
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    monkeypatch.setenv("HOMENODE_NATIVE", "1")
    _cc("-r", "main.c", "part.c", "-o", "both.o")
    commands = Path("asked").read_text().splitlines()
    assert len([command for command in commands if "part.c" in command]) == 2
    questions = [command for command in commands if "-print-prog-name" in command]
    assert len(questions) == len(set(questions))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_compiler_is_asked_for_its_assembler_once(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Path("gcc.sh")
    monkeypatch.setenv("HOMENODE_CC", str(script.resolve()))
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    script.write_text('#!/bin/sh\necho "$*" >> asked\nexec gcc "$@"\n')
    script.chmod(0o755)

    def questions() -> int:
        Path("asked").unlink(missing_ok=True)
        _cc("-c", "part.c")
        asked = Path("asked").read_text().splitlines()
        return sum("-B" in line and "-print-prog-name" in line for line in asked)

    assert [questions(), questions()] == [1, 0]
    with script.open("a") as file:
        file.write("# an update\n")
    assert questions() == 1

"""Failures while a program is compiled: full disks, caches that cannot be written, no assembler."""

from __future__ import annotations

import os
import platform
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from homenode.capture import assembler, assembly, build, compilers

if TYPE_CHECKING:
    from conftest import OnADisk

_NEEDS_ASSEMBLY = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="hooks in gcc's assembly are of x86-64",
)
# An assembler that refuses the text with labels.
_REFUSES = """#!/bin/sh
for word; do case "$word" in */labelled.s)
    echo "$word: Error: refused here" >&2; exit 1;; esac; done
exec as "$@"
"""


def _assemble(folder: Path, command: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Runs the wrapper's assembler on what gcc makes of a small file."""
    (folder / "a.c").write_text("int f(int *p) { return *p + 1; }\n")
    gcc = str(shutil.which("gcc"))
    subprocess.run([gcc, "-S", "-dP", "a.c"], cwd=folder, check=True)
    settings = assembler.settings([command], [], str(folder))
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [assembly._folder() / "as", "-o", "a.o", "a.s"],
        cwd=folder,
        env={**os.environ, assembler.SETTINGS: settings},
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


@_NEEDS_ASSEMBLY
def test_a_file_without_hooks_because_labels_are_refused_is_said(tmp_path: Path) -> None:
    script = tmp_path / "as.sh"
    script.write_text(_REFUSES)
    script.chmod(0o755)
    done = _assemble(tmp_path, str(script))
    assert done.returncode == 0
    assert done.stderr.startswith("homenode: a.o has no hooks: ")
    assert "refused here" in done.stderr
    assert (tmp_path / "a.o").exists()


@_NEEDS_ASSEMBLY
def test_warnings_of_the_assembler_come_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOMENODE_CC", "gcc")
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    source = tmp_path / "a.c"
    source.write_text('void f(long *p) { __asm__("incq 8+%0" : "+m"(*p)); }\n')
    words = ["-O2", "-c", str(source), "-o", str(tmp_path / "a.o")]
    assert compilers.compile("c", words) == 0
    assert capfd.readouterr().err.count("missing operand; zero assumed") == 1


@_NEEDS_ASSEMBLY
def test_without_an_assembler(tmp_path: Path) -> None:
    done = _assemble(tmp_path, str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert "binutils" in done.stderr


@_NEEDS_ASSEMBLY
def test_a_full_disk_makes_no_object_without_hooks(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = _assemble(tmp_path, "as", preexec_fn=limit)
    assert done.returncode == 2
    assert "labelled.s" in done.stderr
    assert not (tmp_path / "a.o").exists()


# What happens to the assembler of each text: of the one with labels, and of the one with hooks.
_FAILURES = {
    "full": 'echo "Fatal error: cannot write: No space left on device" >&2; exit 1',
    "killed": 'echo half >"$out"; kill -KILL $$',
    "memory": 'echo "as: out of memory allocating 9 bytes" >&2; exit 1',
}


@_NEEDS_ASSEMBLY
@pytest.mark.parametrize("text", ["labelled", "hooked"])
@pytest.mark.parametrize("failure", _FAILURES)
def test_an_assembler_that_fails_makes_no_object(
    failure: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "as"
    script.parent.mkdir()
    script.write_text(
        '#!/bin/sh\nfor word; do out=$word; done\n[ "$out" = /dev/null ] && exec as "$@"\n'
        f'case "$*" in *{text}.s*) {_FAILURES[failure]};; esac\nexec as "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("HOMENODE_CC", "gcc")
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("int f(int *p) { return *p + 1; }\n")
    cli = [sys.executable, "-m", "homenode", "cc", "-B", "bin/", "-c", "a.c"]
    done = subprocess.run(cli, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("homenode: ")]
    assert len(lines) == 1, done.stderr
    assert "TMPDIR" in lines[0]
    assert {path.name for path in Path().iterdir()} == {"a.c", "bin"}


@_NEEDS_ASSEMBLY
def test_a_terminated_compilation_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a job of a build server is cancelled: each process of the group gets the signal."""
    script, temporary = tmp_path / "bin" / "as", tmp_path / "temporary"
    script.parent.mkdir()
    temporary.mkdir()
    script.write_text("#!/bin/sh\n: > started\nexec sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setenv("HOMENODE_CC", "gcc")
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("int f(int *p) { return *p + 1; }\n")
    cli = [sys.executable, "-m", "homenode", "cc", "-B", "bin/", "-c", "a.c"]
    running = subprocess.Popen(cli, stderr=subprocess.DEVNULL, start_new_session=True)
    while not Path("started").exists():
        assert running.poll() is None
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGTERM)
    assert running.wait() != 0
    while list(temporary.iterdir()) and _runs(running.pid):
        time.sleep(0.01)
    assert list(temporary.iterdir()) == []
    assert not Path("a.o").exists()


def _runs(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@_NEEDS_ASSEMBLY
@pytest.mark.parametrize(
    ("size", "file"), [("8k", "input.s"), ("600k", "labelled.s"), ("900k", "hooked.s")]
)
def test_a_full_disk_for_temporary_files(
    size: str, file: str, disk: Path, tmp_path: Path, on_a_disk: OnADisk
) -> None:
    functions = [f"int f{n}(int *p) {{ return *p + {n}; }}\n" for n in range(400)]
    (tmp_path / "a.c").write_text("".join(functions))
    cli = shlex.join([sys.executable, "-m", "homenode", "cc", "-O2", "-pipe"])
    script = (
        f"export HOMENODE_CC=gcc HOMENODE_HOOKS=assembly TMPDIR=$PWD; cd {tmp_path}; "
        f"{cli} -c a.c -o a.o; echo $?; ls; ls $TMPDIR"
    )
    done = on_a_disk(size, disk, script)
    assert done.stdout.split() == ["1", "a.c", "disk"], done
    lines = [line for line in done.stderr.splitlines() if line.startswith("homenode: ")]
    assert len(lines) == 1, done.stderr
    assert file in lines[0]
    assert "o space left" in lines[0]
    assert "TMPDIR" in lines[0]


def test_a_cache_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    assert compilers.compile("c", [str(source), "-o", str(tmp_path / "a")]) == 2
    assert "XDG_CACHE_HOME" in capfd.readouterr().err


@_NEEDS_ASSEMBLY
@pytest.mark.parametrize("words", ["-c a.c", "a.c"])
def test_a_full_cache(words: str, disk: Path, tmp_path: Path, on_a_disk: OnADisk) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    cli = shlex.join([sys.executable, "-m", "homenode", "cc"])
    script = (
        "echo > fill; export HOMENODE_CC=gcc HOMENODE_HOOKS=assembly XDG_CACHE_HOME=$PWD; "
        f"cd {tmp_path}; {cli} {words}; echo $?; ls; "
        "find $XDG_CACHE_HOME -type f -size 0 -o -name 'building-*'"
    )
    done = on_a_disk("4k", disk, script)
    assert done.stdout.split() == ["2", "a.c", "disk"], done
    (line,) = done.stderr.splitlines()
    assert "cannot write to the cache folder" in line
    assert "o space left" in line
    assert "XDG_CACHE_HOME" in line


def test_a_relative_cache_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build.cache_dir() == tmp_path / ".cache" / "homenode"


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_compiler_of_c_plus_plus_compiles_the_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not C++, like the runtime, but shorter.
    (tmp_path / "runtime").mkdir()
    source = tmp_path / "runtime" / "short.c"
    source.write_text("int malloc_calls(int class) { return class; }\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = build._build(["g++"], build.Variant("short", (), (source,)))
    assert (folder / "runtime.o").exists()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_programs_that_are_linked_at_once_compile_the_runtime_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "short.c"
    source.write_text("int malloc_calls(int n) { return n; }\n")
    script = tmp_path / "gcc.sh"
    script.write_text(f'#!/bin/sh\necho run >>{tmp_path}/runs\nsleep 0.2\nexec gcc "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    variant = build.Variant("short", (), (source,))
    with ThreadPoolExecutor() as pool:
        made = [pool.submit(build._build, [str(script)], variant) for _ in range(3)]
    assert len({each.result() for each in made}) == 1
    assert (tmp_path / "runs").read_text() == "run\n"
    kept = {path.suffix for path in (tmp_path / "homenode").iterdir()}
    assert kept == {""}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_only_what_can_be_exported_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "short.c"
    source.write_text(
        "void done(int *p); void more(void);\n"
        '__attribute__((weak, visibility("default"))) void malloc_like(void) {\n'
        "  __attribute__((cleanup(done))) int x = 0; more();\n}\n"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = build._build(["gcc"], build.Variant("short", (), (source,)))
    assert (folder / "runtime.list").read_text() == "{\n  malloc_like;\n};\n"

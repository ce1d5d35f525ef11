"""Hooks in the assembly: what is hard to read, and what must not have a hook."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from homenode.capture import compilers

if TYPE_CHECKING:
    from conftest import Recorder

pytestmark = pytest.mark.usefixtures("hooks")

_HASH = """#include <stdio.h>
static int is(char c) {
    char r;
    __asm__("cmpb $'#', %1; sete %0 /* a; comment\\n over lines */" : "=q"(r) : "q"(c) : "cc");
    return r;
}
int main(void) { printf("%d %d\\n", is('#'), is('a')); }
"""
_BACKWARDS = """#include <stdio.h>
char a[300];
int main(void) {
    void *to = a + 209, *from = a + 199;
    long count = 200;
    for (int i = 0; i < 300; i++) a[i] = i;
    __asm__ volatile("std; rep; movsb; cld"
                     : "+D"(to), "+S"(from), "+c"(count) : : "memory", "cc");
    printf("%d %d\\n", a[11], a[209]);
}
"""
_LOOP = """#include <stdio.h>
int g[8] = {1, 2, 3, 4, 5, 6, 7, 8};
int main(void) {
    int s = 0; int *p = g; long n = 8;
    __asm__ volatile("1: addl (%1), %0; addl (%1), %0; addl (%1), %0; addl (%1), %0\\n"
                     "addl (%1), %0; addq $4, %1; loop 1b"
                     : "+r"(s), "+r"(p), "+c"(n) : : "memory", "cc");
    printf("%d %d\\n", s, (int)n);
}
"""
_CONDITION = """#include <stdio.h>
int g = 3;
int main(void) {
    int r;
    __asm__(".if 0\\n movl $1, %0\\n.else\\n movl %1, %0\\n.endif" : "=r"(r) : "m"(g));
    printf("%d 0\\n", r);
}
"""
_INTEL = """#include <stdio.h>
int g[2] = {3, 4};
int main(void) {
    int r;
    __asm__(".intel_syntax noprefix\\n mov eax, dword ptr [rcx+4]\\n.att_syntax prefix"
            : "=a"(r) : "c"(g), "m"(g));
    printf("%d 0\\n", r);
}
"""
_INTEL_FILE = """#include <stdio.h>
__thread int own = 3;
int flags[4] = {1, 2, 3, 4};
__attribute__((noinline)) int at(int i) { return flags[i] + own; }
int main(void) {
    int r;
    __asm__("mov %0, dword ptr [%1+8]" : "=r"(r) : "r"(flags), "m"(flags));
    for (int i = 0; i < 4; i++) own += at(i);
    printf("%d %d\\n", r, own);
}
"""
_RESOLVER = """#include <stdio.h>
int g[2] = {1, 5};
static int one(void) { return g[1]; }
static int first(const int *p) { return p[0]; }
static void *choose(void) { return first(g) ? (void *)one : (void *)0; }
int f(void) __attribute__((ifunc("choose")));
#ifndef LIBRARY
int main(void) { printf("%d 0\\n", f()); }
#endif
"""
_USER = '#include <stdio.h>\nint f(void);\nint main(void) { printf("%d\\n", f()); }\n'

_ALIGNED = """
__attribute__((noinline)) void use(int *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
int main(void) {
    __attribute__((aligned(64))) int own[64];
    int s = 0;
    use(own);
    for (int i = 0; i < 100; i++) { s += own[3] + own[5]; own[7] = s; use(own); }
    return 0;
}
"""


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        pytest.param(_HASH, "1 0", id="constants and comments"),
        pytest.param(_BACKWARDS, "1 -57", id="direction flag"),
        pytest.param(_LOOP, "180 0", id="short jumps"),
        pytest.param(_CONDITION, "3 0", id="conditional assembly"),
        pytest.param(_INTEL, "4 0", id="Intel syntax"),
        pytest.param(_RESOLVER, "5 0", id="chosen when loaded"),
    ],
)
@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
def test_programs_behave_as_without_hooks(
    source: str, wanted: str, optimize: str, tmp_path: Path
) -> None:
    (tmp_path / "a.c").write_text(source)
    program = tmp_path / "a"
    assert compilers.compile("c", [optimize, str(tmp_path / "a.c"), "-o", str(program)]) == 0
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == wanted


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "words", ["-static", "-static-pie -fPIE", "-pie -fPIE", "-no-pie -fno-pie", "-fPIC -shared"]
)
def test_what_a_resolver_calls_may_have_hooks(
    compiler: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("HOMENODE_CC", compiler)
    (tmp_path / "a.c").write_text(_RESOLVER)
    (tmp_path / "user.c").write_text(_USER)
    first, program = str(tmp_path / "first"), str(tmp_path / "program")
    if "-shared" in words:
        library = [*words.split(), "-DLIBRARY", str(tmp_path / "a.c"), "-o", f"{first}.so"]
        assert compilers.compile("c", library) == 0
        user = [str(tmp_path / "user.c"), f"{first}.so", "-o", program]
        assert compilers.compile("c", user) == 0
    else:
        assert compilers.compile("c", [*words.split(), str(tmp_path / "a.c"), "-o", program]) == 0
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout[0] == "5"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
def test_a_file_in_intel_syntax_has_hooks(
    compiler: str,
    optimize: str,
    tmp_path: Path,
    record: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("HOMENODE_CC", compiler)
    # In Intel syntax gcc's assembler takes `flags` for a register.
    text = _INTEL_FILE.replace("flags", "table") if compiler == "gcc" else _INTEL_FILE
    (tmp_path / "a.c").write_text(text)
    program = tmp_path / "a"
    words = [optimize, "-masm=intel", str(tmp_path / "a.c"), "-o", str(program)]
    assert compilers.compile("c", words) == 0
    recording = record(program)
    assert recording.out == "3 74\n"
    assert len(recording.touching("table" if compiler == "gcc" else "flags")["addr"]) == 5


def test_a_static_program_in_fortran_closes_its_files(tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran")
    name = tmp_path / "out"
    (tmp_path / "a.f90").write_text(f"open(9, file='{name}')\nwrite(9, *) 7\nclose(9)\nend\n")
    program = tmp_path / "a"
    words = ["-static", str(tmp_path / "a.f90"), "-o", str(program)]
    assert compilers.compile("fortran", words) == 0
    subprocess.run([program], check=True)
    assert name.read_text().strip() == "7"


def test_variables_of_an_aligned_frame_are_recorded(tmp_path: Path, record: Recorder) -> None:
    (tmp_path / "a.c").write_text(_ALIGNED)
    program = tmp_path / "a"
    assert compilers.compile("c", ["-O2", str(tmp_path / "a.c"), "-o", str(program)]) == 0
    assert record(program).summary["references"] >= 300


# What an object announces of the registers of each kind.
_KINDS = {
    "LOW": "",
    "HIGH": "xmm",
    "YMM": "xmm ymm",
    "ZMM": "xmm zmm",
    "X87": "exceptions x87",
    "MMX": "exceptions x87",
    "DIRECTION": "direction",
    "MODES": "exceptions",
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_turns_of_one_reference_keep_registers(
    compiler: str, kind: str, tmp_path: Path, record: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values are live while other threads use the same registers; also where a library does."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("HOMENODE_CC", compiler)
    source = str(Path(__file__).parent / "programs" / "registers.c")
    words = ["-O1", f"-DKIND_{kind}", "-pthread", source, "-lm"]
    plain, hooked, library = (str(tmp_path / name) for name in ("plain", "hooked", "library.so"))
    subprocess.run([compiler, *words, "-o", plain], check=True)
    wanted = subprocess.run([plain], capture_output=True, text=True, check=True).stdout
    assert compilers.compile("c", [*words, "-o", hooked]) == 0
    assert record(hooked, quantum=1).out == wanted
    assert compilers.compile("c", [*words, "-fPIC", "-shared", "-DLIBRARY", "-o", library]) == 0
    assert compilers.compile("c", ["-DUSER", "-pthread", source, "-ldl", "-o", hooked]) == 0
    assert record(hooked, library, quantum=1).out == wanted
    assert _announced(library) == _KINDS[kind]


@pytest.mark.parametrize("kind", ["HIGH", "ZMM", "X87", "DIRECTION"])
def test_objects_that_announce_nothing_may_use_all(
    kind: str, tmp_path: Path, record: Recorder
) -> None:
    """Such as those of an older version."""
    source = str(Path(__file__).parent / "programs" / "registers.c")
    plain, hooked, part = (str(tmp_path / name) for name in ("plain", "hooked", "a.o"))
    words = ["-O1", f"-DKIND_{kind}", "-pthread", source]
    subprocess.run([shutil.which("cc") or "cc", *words, "-o", plain], check=True)
    wanted = subprocess.run([plain], capture_output=True, text=True, check=True).stdout
    assert compilers.compile("c", [*words, "-c", "-o", part]) == 0
    objcopy = shutil.which("objcopy") or "objcopy"
    subprocess.run([objcopy, "-R", ".init_array.00000", part], check=True)
    assert compilers.compile("c", ["-pthread", part, "-o", hooked]) == 0
    assert record(hooked, quantum=1).out == wanted


def test_a_threads_modes_and_exceptions_are_its_own_with_the_compilers_hooks(
    tmp_path: Path, record: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOMENODE_HOOKS", "compiler")
    source = str(Path(__file__).parent / "programs" / "registers.c")
    plain, hooked = (str(tmp_path / name) for name in ("plain", "hooked"))
    words = ["-O1", "-DKIND_MODES", "-pthread", source, "-lm", "-o"]
    subprocess.run([shutil.which("cc") or "cc", *words, plain], check=True)
    wanted = subprocess.run([plain], capture_output=True, text=True, check=True).stdout
    assert compilers.compile("c", [*words, hooked]) == 0
    assert record(hooked, quantum=1).out == wanted


def _announced(library: str) -> str:
    """What a library's code uses, as it tells the runtime."""
    words = [shutil.which("nm") or "nm", "-Du", library]
    symbols = subprocess.run(words, capture_output=True, text=True, check=True)
    uses = [word for word in symbols.stdout.split() if word.startswith("__homenode_uses_")]
    return " ".join(sorted(word.removeprefix("__homenode_uses_") for word in uses))


def test_dependencies_name_the_object(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;\n")
    target = tmp_path / "a$b.o"
    words = ["-MD", "-c", str(tmp_path / "a.c"), "-o", str(target)]
    assert compilers.compile("c", words) == 0
    assert "a$$b.o:" in (tmp_path / "a$b.d").read_text()


def test_unknown_hooks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOMENODE_HOOKS", "assembler")
    (tmp_path / "a.c").write_text("int a;\n")
    assert compilers.compile("c", ["-c", str(tmp_path / "a.c"), "-o", str(tmp_path / "a.o")]) == 2
    assert "HOMENODE_HOOKS=assembler" in capfd.readouterr().err
    assert not (tmp_path / "a.o").exists()


def test_hooks_in_another_assembly_than_x86_64_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    (tmp_path / "a.c").write_text("int a;\n")
    words = ["-c", str(tmp_path / "a.c"), "-o", str(tmp_path / "a.o")]
    assert compilers.compile("c", words) == 2
    assert "HOMENODE_HOOKS=assembly needs x86-64" in capfd.readouterr().err
    monkeypatch.delenv("HOMENODE_HOOKS")
    assert compilers.compile("c", words) == 0
    assert b"__tsan_init" in (tmp_path / "a.o").read_bytes()

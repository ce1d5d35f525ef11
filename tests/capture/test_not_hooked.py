"""What accesses memory and has no hook is counted, and said where a recording is described."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from homenode import _core
from homenode.capture import compilers
from homenode.errors import ConfigError

if TYPE_CHECKING:
    from conftest import Recorder

_C = """
long g[8]; long f(long *p);
int main(void) {
    __asm__ volatile(".macro both\\n incq (%0)\\n movq 8(%0), %%rax\\n .endm\\n both\\n"
                     ".rept 3\\n incq 16(%0)\\n .endr" : : "r"(g) : "rax", "memory", "cc");
    __asm__ volatile("btsq %1, (%0)" : : "r"(g), "r"(70L) : "memory", "cc");
    __asm__ volatile("xgetbv" : : "c"(0) : "rax", "rdx");
    return (int)f(g) - 8;
}
"""
# What means something in assembly, and bytes that are no text.
_SPECIAL = b"\x00\xff\x80\x01:;\"'#[](){}%$@,\n"
_S = """
#define RESULT rax
    .text
    .globl f
f:
    pushq %rbx
    movq (%rdi), %rbx
    movq 16(%rdi), %RESULT
    addq %rbx, %RESULT
    leaq 4(%RESULT), %RESULT
    popq %rbx
    ret
    .section .note.GNU-stack,"",@progbits
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="hooks in the assembly are of x86-64")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_has_no_hook_is_counted(
    compiler: str, tmp_path: Path, record: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    monkeypatch.setenv("HOMENODE_CC", compiler)
    (tmp_path / "a.c").write_text(_C)
    (tmp_path / "b.S").write_text(_S)
    words = ["-O1", str(tmp_path / "a.c"), str(tmp_path / "b.S"), "-o", str(tmp_path / "a")]
    assert compilers.compile("c", words) == 0
    recording = record(tmp_path / "a")
    here = recording.summary["not_hooked"]
    assert [text.replace(f"{tmp_path}/", "") for text in here] == [
        "2 instructions in hand-written assembly (b.S)",
        "5 instructions in macros of the assembler (a.c)",
        "1 instruction whose access is not known (a.c)",
    ]
    assert [f"not hooked: {text}" for text in here] == recording.metadata()["provenance"][1:]


def _damaged(data: bytes, chance: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.integers(1, 20)):
        changed[chance.integers(len(changed))] = chance.choice(list(_SPECIAL))
    return bytes(changed[: chance.integers(1, len(changed) + 1)])


def test_damaged_text_and_objects_are_errors(tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("no gcc")
    (tmp_path / "a.c").write_text(_C)
    text, labelled, marked, out = (str(tmp_path / name) for name in ("a.s", "l.s", "l.o", "h.s"))
    subprocess.run([gcc, "-O1", "-dP", "-S", tmp_path / "a.c", "-o", text], check=True)
    _core.Assembly(text).label(labelled)
    subprocess.run([gcc, "-c", "-Wa,-L", labelled, "-o", marked], check=True)
    _core.Assembly(text).hook(marked, out)
    originals = {path: Path(path).read_bytes() for path in (text, marked)}
    chance = np.random.default_rng(1)
    refused = 0
    for _ in range(60):
        for path, data in originals.items():
            Path(path).write_bytes(_damaged(data, chance))
            assembly = _core.Assembly(text)
            assembly.label(out)
            try:
                assembly.hook(marked, out)
            except ConfigError:
                refused += 1
            Path(path).write_bytes(data)
    assert refused > 60

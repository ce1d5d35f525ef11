"""With hooks in the assembly the compiler does all else as without: files, output, exit codes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from homenode.capture import compilers

_A = """#include <stdio.h>
#ifdef EXTRA
#include EXTRA
#endif
int b(int *p);
int main(void) { int x[9] = {0}; x[3] = b(x + 2); printf("%d\\n", x[3]); return 0; }
"""
_B = "int b(int *p) { return p[1] + 7; }\n"
_S = "\t.text\n\t.globl b\nb:\n\tmovl 4(%rdi), %eax\n\taddl $7, %eax\n\tret\n"

_COMMAND_LINES = [
    "-c a.c",
    "-c a.c -o sub/x.lo",
    "-c a.c b.c",
    "a.c b.c -o prog",
    "a.c b.c",
    "-S a.c",
    "-S a.c -o -",
    "-E a.c",
    "-E a.c -o a.i",
    "-c -x c - -o in.o",
    "-S -x c - -o -",
    "-pipe -c a.c",
    "-c @words",
    "-include extra.h -c a.c",
    "-x c-header extra.h -o extra.h.gch",
    "-MD -c a.c",
    "-MMD -MF deps -MT target -c a.c -o sub/a.o",
    "-M a.c",
    "-MD a.c b.c -o prog",
    "-save-temps -c a.c",
    "-save-temps=obj -c a.c -o sub/a.o",
    "-save-temps a.c b.c -o prog",
    "-fstack-usage -c a.c -o sub/a.o",
    "-fstack-usage a.c b.c -o prog",
    "--coverage -c a.c -o sub/a.o",
    "-ftest-coverage -fprofile-arcs a.c b.c -o prog",
    "-g -gsplit-dwarf -c a.c -o sub/a.o",
    "-g3 -gdwarf-5 -c a.c",
    "-fsyntax-only a.c",
    "-c a.c bs.s",
    "a.c bs.s -o prog",
    "-masm=intel a.c b.c -o prog",
    "-O2 -fno-ident -c a.c",
    "-c missing.c",
    "-c wrong.c",
    "-c wrong-instruction.c",
    "-dumpversion",
    "-print-prog-name=ld",
    "-print-file-name=crt1.o",
    "-v",
    "-c -v a.c",
    "--version",
    "-### -c a.c",
]
_OF_GCC = [
    "-fdump-tree-optimized -c a.c -o sub/a.o",
    "-fdump-rtl-final -O2 -c a.c",
    "-fdump-ipa-cgraph a.c b.c -o prog",
    "-fcallgraph-info -c a.c -o sub/a.o",
    "-O3 -fopt-info-all=notes -c a.c",
    "-fsave-optimization-record -c a.c",
    "-Wa,-a=list -c a.c",
    "-Wa,--MD,as.d -c a.c",
    "-wrapper env,X=1 -c a.c",
]
_OF_CLANG = [
    "-MJ commands.json -c a.c",
    "-ftime-trace -c a.c -o sub/x.o",
    "-O2 -fsave-optimization-record -c a.c -o sub/a.o",
    "-Wall -Werror -c a.c",
    "-Wall -Werror bs.s a.c -o prog",
    "-Werror -c bs.s",
]
_CASES = [(c, line) for c in ("gcc", "clang") for line in _COMMAND_LINES]
_CASES += [("gcc", line) for line in _OF_GCC] + [("clang", line) for line in _OF_CLANG]
# What depends on the compiler's options, which are not the same.
_OTHER_OUTPUT = {"-S a.c -o -", "-S -x c - -o -", "-E a.c", "-### -c a.c"}


@dataclass(frozen=True)
class Result:
    """What a compiler did."""

    code: int
    files: frozenset[str]
    output: str


def _prepare(folder: Path) -> None:
    (folder / "sub").mkdir(parents=True)
    files = {
        "a.c": _A,
        "b.c": _B,
        "bs.s": _S,
        "extra.h": "extern int extra;\n",
        "words": '-O1 -DNAME="x y"\na.c',
        "wrong.c": "int f(void) { return }\n",
        "wrong-instruction.c": 'void f(void) { __asm__("nonsense %eax"); }\n',
    }
    for name, text in files.items():
        (folder / name).write_text(text)


def _result(folder: Path, run: Callable[[], int], capfd: pytest.CaptureFixture[str]) -> Result:
    """What a compiler does in a folder of sources; its standard input is a source too."""
    _prepare(folder)
    before = set(folder.rglob("*"))
    capfd.readouterr()
    with contextlib.chdir(folder), _input_from("a.c"):
        code = run()
    files = {str(path.relative_to(folder)) for path in set(folder.rglob("*")) - before}
    # -save-temps: gcc writes the linker's options to a file because one of ours is in a file.
    files.discard("prog.ld1_args")
    return Result(code, frozenset(files), capfd.readouterr().out)


@contextlib.contextmanager
def _input_from(name: str) -> Iterator[None]:
    """Processes that start in this block read a file as their standard input."""
    before = os.dup(0)
    with Path(name).open() as file:
        os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.parametrize(("compiler", "words"), _CASES)
def test_files_and_exit_codes_are_the_compilers(
    compiler: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    monkeypatch.setenv("HOMENODE_HOOKS", "assembly")
    monkeypatch.setenv("HOMENODE_CC", compiler)
    line = words.split()
    plain = _result(
        tmp_path / "plain", lambda: subprocess.run([compiler, *line], check=False).returncode, capfd
    )
    hooked = _result(tmp_path / "hooked", lambda: compilers.compile("c", line), capfd)
    assert hooked.code == plain.code
    assert hooked.files == plain.files
    if words not in _OTHER_OUTPUT:
        assert hooked.output == plain.output
    if plain.files & {"prog", "a.out"}:
        program = tmp_path / "hooked" / next(iter(plain.files & {"prog", "a.out"}))
        assert subprocess.run([program], capture_output=True, check=True).stdout == b"7\n"

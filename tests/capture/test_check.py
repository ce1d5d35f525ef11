"""`record --check`: a recording with hooks compared with one of its twin under emulation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.capture import checking, compilers
from support.command import Command

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine"),
    pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="QEMU is not installed"),
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="hooks in the assembly are x86-64's"),
]

# What main returns tells the exit code of the program from others.
_SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char page[4096];
static long counts[512];
static char text[4096];
int main(int argc, char **argv) {
  long *heap = malloc(sizeof counts);
  for (int round = 0; round < argc + 9; round++) {
    memset(page, round, sizeof page);
    __asm__ volatile("" ::: "memory");  /* what is in the page is not known here */
    for (int i = 0; i < 512; i++)
      counts[i] += page[i];
    memcpy(heap, counts, 8 * (argc + 499));
    snprintf(text, sizeof text, "%4000d", round);
  }
  printf("%ld\\n", heap[3]);
  return 3;
}
"""
_MISSED = "compiler's hooks miss it (build with HOMENODE_HOOKS=assembly)"
_LIBRARY = "library code: hooks are in the program's own files only"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOMENODE_NATIVE", "1")
    monkeypatch.setenv("HOMENODE_CC", "gcc")
    Path("prog.c").write_text(_SOURCE)


def _build(monkeypatch: pytest.MonkeyPatch, hooks: str) -> None:
    monkeypatch.setenv("HOMENODE_HOOKS", hooks)
    assert compilers.compile("c", ["-O2", "prog.c", "-o", "prog"]) == 0


def _rows(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows by name, lines by number."""
    both = [*made["check"]["objects"], *made["check"]["code"]]
    return {f"{row['kind']} {row['line'] or row['name']}": row for row in both}


def _line(text: str) -> str:
    lines = _SOURCE.splitlines()
    return f"line {1 + next(i for i, line in enumerate(lines) if text in line)}"


def test_hooks_in_the_assembly_agree_with_emulation(
    program: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build(monkeypatch, "assembly")
    done = program("record", "--check", "--json", "-o", "t.hnt", "--", "./prog", "one")
    assert done.code == 3
    made = json.loads(done.out)
    assert made["exit_code"] == 3
    assert made["references"] == hn.Trace.open("t.hnt").references
    check, rows = made["check"], _rows(made)
    assert (check["hooks"], check["notes"]) == ("assembly", [])
    # 11 rounds; the lengths of the copies are known to the program only.
    for name, read, written in (
        ("static page", 11 * 512, 11 * 4096),
        ("static counts", 11 * (4096 + 8 * 501), 11 * 4096),
        (_line("memset"), 0, 11 * 4096),
        (_line("memcpy"), 11 * 8 * 501, 11 * 8 * 501),
    ):
        row = rows[name]
        assert (row["hooks_read"], row["hooks_written"]) == (read, written), name
        emulated = [row["emulated_read"], row["emulated_written"]]
        # The library's copies write some bytes twice; objects have more than these.
        assert emulated == pytest.approx([read, written], rel=0.04), name
        assert row["agrees"] or row["reason"].startswith("copies by the library: "), name
    assert rows["static page"]["agrees"]
    assert rows["static counts"]["agrees"]
    # The twin ran as well, with its output discarded.
    assert done.err.count("505\n") == done.err.count("5050\n") == 0
    assert [path.name for path in Path().glob("*.hnt*")] == ["t.hnt"]


def test_what_the_compilers_hooks_miss_is_listed(
    program: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build(monkeypatch, "compiler")
    done = program("record", "--check", "-o", "t.hnt", "--", "./prog")
    assert done.code == 3
    assert done.out.count("\n") == 1
    page = next(line for line in done.err.splitlines() if line.startswith(" static page "))
    assert "40,960   compiler's hooks miss it" in page
    assert "hooks and emulation agree within 2 % for " in done.err.splitlines()[-1]

    made = json.loads(program("record", "--check", "--json", "-o", "u.hnt", "./prog").out)
    rows = _rows(made)
    assert made["check"]["hooks"] == "compiler"
    for name in ("static page", _line("memset")):
        row = rows[name]
        assert (row["hooks_written"], row["emulated_written"]) == (0, 10 * 4096)
        assert (row["agrees"], row["reason"]) == (False, _MISSED)
    assert rows["static counts"]["agrees"]


def test_library_code_is_a_row_and_a_reason(
    program: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build(monkeypatch, "assembly")
    made = json.loads(program("record", "--check", "--json", "-o", "t.hnt", "./prog").out)
    rows = _rows(made)
    libc = next(row for name, row in rows.items() if name.startswith("library libc.so"))
    assert libc["hooks_written"] == 0
    assert libc["emulated_written"] == libc["library_written"] >= 10 * 4000
    text = rows["static text"]
    assert text["hooks_written"] == 0
    assert text["emulated_written"] == text["library_written"] >= 10 * 4000
    assert text["reason"] == libc["reason"] == _LIBRARY
    # It is not the line's that calls it, and the stacks have a reason of their own.
    assert _line("snprintf") not in rows
    assert rows["stacks stacks and local variables"]["reason"].startswith("stack of the compiler")
    assert "; without library code for " in made["check"]["verdict"]


def test_what_is_missing_is_said_before_anything_is_recorded(
    program: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build(monkeypatch, "compiler")

    def refused(*words: str) -> str:
        done = program("record", "--check", *words, "-o", "t.hnt", "--", "./prog")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert not list(Path().glob("*.hnt*"))
        return done.err

    assert "--check compares one recording" in refused("--quantum", "1,10")
    assert "--check goes with --via cc" in refused("--via", "qemu")
    assert "./none: no such emulator; install QEMU" in refused("--emulator", "./none")
    assert "--native-program ./prog is instrumented" in refused("--native-program", "./prog")
    Path("prog.native").rename("plain")
    said = refused()
    assert "no uninstrumented program to compare with: ./prog.native does not exist" in said
    assert "build with HOMENODE_NATIVE=1 in the environment, or name a program with " in said

    words = ["--check", "--native-program", "./plain", "--json", "-o", "t.hnt"]
    made = json.loads(program("record", *words, "--", "./prog").out)
    assert made["native_time_s"] is None
    assert made["check"]["notes"] == []


def test_objects_are_compared_without_source_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    _build(monkeypatch, "compiler")
    gcc = shutil.which("gcc")
    assert gcc is not None
    subprocess.run([gcc, "-O2", "-w", "prog.c", "-o", "plain"], check=True)
    hooks = hn.Trace.record(["./prog"], "t.hnt")
    check = checking.check(hooks, [checking.prepare("./prog", "./plain")])
    assert [note.split(",")[0] for note in check.notes] == [
        "the uninstrumented program has no source lines"
    ]
    rows = {row.name: row for row in check.objects}
    # A block is told apart from the line that allocates it.
    assert rows["prog.c:8 (main)"].label == "heap, prog.c:8 (main)"
    assert rows["counts"].agrees
    assert (rows["page"].library_written, rows["page"].reason) == (0, "unknown")


def test_another_run_is_no_reason_to_blame_the_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    _build(monkeypatch, "compiler")
    hooks = hn.Trace.record(["./prog"], "t.hnt")
    twin = checking.prepare("./prog")
    check = checking.check(hooks, [twin, "one", "two"], order="logical")
    assert (check.hooks, len(check.notes)) == ("compiler", 1)
    assert "the program may take another path each time" in check.notes[0]
    counts = next(row for row in check.objects if row.name == "counts")
    assert (counts.agrees, counts.reason) == (False, "unknown")
    other = shutil.which("true")
    assert other is not None
    check = checking.check(hooks, [other])
    said = "another run: it ended with code 3, under emulation with code 0"
    assert check.notes[0] == f"{said}: what differs may be the run"
    assert next(row for row in check.objects if row.name == "counts").reason == said
    with pytest.raises(hn.ConfigError, match="a check has no option speed; its options are order"):
        checking.check(hooks, [twin], speed=1)

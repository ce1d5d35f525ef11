"""Heap blocks of unmodified programs: seen, and named as with hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn

if TYPE_CHECKING:
    from conftest import Builder, Recorder, Recording

_PROGRAMS = Path(__file__).parent / "programs"
_SYSROOTS = {"aarch64": "/usr/aarch64-linux-gnu", "riscv64": "/usr/riscv64-linux-gnu"}

pytestmark = pytest.mark.skipif(
    shutil.which("qemu-x86_64") is None or shutil.which("gcc") is None,
    reason="qemu-user or gcc is not installed",
)


def _labels(recording: Recording) -> set[str]:
    result = hn.sharing(str(recording.path), ["cc"], "64", detail=64, count=200)
    return {row["label"] for row in result.detail["objects"]}


def _line(source: str, mark: str) -> int:
    lines = (_PROGRAMS / source).read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if f"line: {mark} " in text)


def _allocated(recording: Recording, least: int) -> list[int]:
    """Sizes of the blocks from a size on, in order."""
    events = [words for words in recording.events() if words[1] == "alloc"]
    sizes = [int(words[3], 0) for words in events]
    return [size for size in sizes if size >= least]


@pytest.mark.parametrize("order", ["deterministic", "free"])
@pytest.mark.parametrize(
    ("machine", "flags"),
    [
        ("x86_64", ("-O2",)),
        ("x86_64", ("-static",)),
        ("x86_64", ("-O2", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-g0")),
        ("aarch64", ("-O2",)),
        ("aarch64", ("-static",)),
        ("riscv64", ("-O2",)),
        ("riscv64", ("-static",)),
    ],
)
def test_every_allocation_function_is_seen(
    compiled: Builder, emulate: Recorder, machine: str, flags: tuple[str, ...], order: str
) -> None:
    program = compiled("allocators.c", *flags, machine=machine)
    made = emulate(program, machine=machine, sysroot=_SYSROOTS.get(machine, ""), order=order)
    expected = [10001, 10002, 30009, 10110, 10005, 10048, 10007, 10008]
    expected += [20001, 20002, 20002, 20003, 10009, 10009, 10009]
    assert _allocated(made, 10001) == expected
    freed = [words for words in made.events() if words[1] == "free"]
    assert len(freed) >= 4


def test_the_site_is_found_below_many_calls(compiled: Builder, emulate: Recorder) -> None:
    made = emulate(compiled("allocators.c", "-O2"))
    metadata = made.metadata()
    stacks, frames = metadata["stacks"], metadata["frames"]
    deep = [r for r in metadata["ranges"] if r["kind"] == "heap" and r["size"] == 10009]
    assert len(deep) == 3
    for block in deep:
        stack = stacks[block["stack"] - 1]
        names = [frames[number]["function"] for number in stack["frames"]]
        assert frames[stack["frames"][stack.get("site", 0)]]["line"] == _line(
            "allocators.c", "deep"
        )
        assert names.count("deep") == 32


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-static"), ("-O0",)])
@pytest.mark.parametrize("source", ["containers.cpp", "wrappers.c"])
def test_blocks_have_the_names_of_hooks(
    build: Builder,
    record: Recorder,
    emulate: Recorder,
    tmp_path: Path,
    source: str,
    flags: tuple[str, ...],
) -> None:
    compiler = shutil.which("g++" if source.endswith("cpp") else "gcc")
    assert compiler is not None
    plain = tmp_path / "plain"
    line = [compiler, "-w", "-g", "-pthread", *flags, str(_PROGRAMS / source), "-o", str(plain)]
    subprocess.run(line, check=True)
    blocks = {name for name in _labels(record(build(source, *flags))) if name.startswith("heap,")}
    if source == "wrappers.c" and flags != ("-O0",):
        # Without hooks the compiler leaves this block out.
        blocks = {name for name in blocks if f":{_line(source, 'own')} " not in name}
    assert len(blocks) > 3
    assert blocks <= _labels(emulate(plain))


def _tool(name: str) -> str:
    found = shutil.which(name)
    for folder in ("/usr/local/go/bin", str(Path.home() / ".cargo/bin")):
        found = found or shutil.which(name, path=folder)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_blocks_of_rust_are_named_by_its_lines(emulate: Recorder, tmp_path: Path) -> None:
    source = tmp_path / "tally.rs"
    source.write_text(
        """use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
fn main() {
    let tally: Arc<Vec<AtomicU64>> = Arc::new((0..4).map(AtomicU64::new).collect()); // made
    let threads: Vec<_> = (0..2)
        .map(|me| {
            let tally = tally.clone();
            std::thread::spawn(move || {
                for _ in 0..500 { tally[me].fetch_add(1, Ordering::Relaxed); }
            })
        })
        .collect();
    for thread in threads { thread.join().unwrap(); }
    println!("{}", tally[0].load(Ordering::Relaxed));
}
"""
    )
    program = tmp_path / "tally"
    line = [_tool("rustc"), "-O", "-g", str(source), "-o", str(program)]
    subprocess.run(line, check=True, capture_output=True)
    made = emulate(program)
    assert "heap, tally.rs:4 (tally::main)" in _labels(made)
    lines = {one["file"].rsplit("/", 1)[-1] for one in made.metadata()["lines"]}
    assert "tally.rs" in lines


_GO = """package main

func work(cell *int64, done chan bool) {
	for i := 0; i < 500; i++ {
		*cell += int64(i)
	}
	done <- true
}

func main() {
	cells := make([]int64, 40)
	done := make(chan bool)
	for i := 0; i < 4; i++ {
		go work(&cells[i], done)
	}
	for i := 0; i < 4; i++ {
		<-done
	}
	println(cells[1])
}
"""


def _go_program(folder: Path, processor: str, *flags: str) -> Path:
    (folder / "main.go").write_text(_GO)
    program = folder / "tally"
    subprocess.run(
        [_tool("go"), "build", *flags, "-o", str(program), str(folder / "main.go")],
        check=True,
        capture_output=True,
        env={**os.environ, "GOFLAGS": "", "CGO_ENABLED": "0", "GOARCH": processor},
    )
    return program


def test_goroutines_have_stacks_of_their_own(emulate: Recorder, tmp_path: Path) -> None:
    made = emulate(_go_program(tmp_path, "amd64"), environment={"GOMAXPROCS": "4"})
    assert "heap, main.go:11 (main.main)" in _labels(made)
    ranges = made.metadata()["ranges"]
    stacks: list[dict[str, Any]] = [r for r in ranges if r["kind"] == "stack" and r["thread"] > 0]
    assert stacks
    assert {stack["size"] for stack in stacks} == {16384}
    assert sum(r.get("name") == "goroutine stacks" for r in ranges) >= 4


@pytest.mark.parametrize(
    ("machine", "processor", "flags"),
    [
        # Its frame pointers are below the stack pointer.
        ("aarch64", "arm64", ()),
        # It has none, but tables with a rule for the stack pointer.
        ("riscv64", "riscv64", ("-ldflags=-compressdwarf=false",)),
    ],
)
def test_blocks_of_go_are_named_by_its_lines(
    emulate: Recorder, tmp_path: Path, machine: str, processor: str, flags: tuple[str, ...]
) -> None:
    made = emulate(_go_program(tmp_path, processor, *flags), machine=machine)
    assert "heap, main.go:11 (main.main)" in _labels(made)

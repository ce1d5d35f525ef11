"""Names of heap blocks, of static and local variables, their types and fields."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn

if TYPE_CHECKING:
    from conftest import Builder, Recorder, Recording

_PROGRAMS = Path(__file__).parent / "programs"

GFORTRAN = pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")


def _line(source: str, mark: str) -> int:
    """The line of a program that is marked `line: MARK`."""
    lines = (_PROGRAMS / source).read_text().splitlines()
    found = [number for number, text in enumerate(lines, 1) if f"line: {mark}" in text]
    assert len(found) == 1, mark
    return found[0]


def _objects(recording: Recording) -> dict[str, dict[str, Any]]:
    """The objects that the analysis names, by their labels, each once."""
    result = hn.sharing(str(recording.path), ["cc"], "64", detail=64, count=100)
    objects = result.detail["objects"]
    labels = [row["label"] for row in objects]
    assert len(labels) == len(set(labels)), labels
    assert all(row["label"] and row["bytes"] for row in objects)
    return dict(zip(labels, objects, strict=True))


def _fields(row: dict[str, Any]) -> list[str]:
    return [field["name"] for field in row["fields"] if field["reads"] + field["writes"]]


@pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-O2", "-static"), ("-O2", "-fno-inline")])
def test_containers_are_named_by_their_users(
    build: Builder, record: Recorder, flags: tuple[str, ...]
) -> None:
    objects = _objects(record(build("containers.cpp", *flags)))
    of_shared = "control block of shop::Tally"
    expected = {
        ("vector", "tallies"): "shop::Tally",
        ("map", "index"): "node of std::pair<int const, shop::Tally>",
        ("node", "prepend"): "shop::Node",
        ("string", "names"): "char",
        ("unique", "main"): "shop::Tally",
        ("shared", "main"): of_shared,
    }
    if not {"-O0", "-fno-inline"} & set(flags):
        # Otherwise only the C++ library reads these.
        expected["reserve", "names"] = "std::string"
    for (mark, function), type_name in expected.items():
        label = f"heap, containers.cpp:{_line('containers.cpp', mark)} ({function}): {type_name}"
        assert label in objects, (label, sorted(objects))
        site = objects[label]["allocated_at"]
        assert site["file"].endswith("containers.cpp")
        assert objects[label]["type"] == type_name
        # The stack ends in the program's own function: its caller is the same everywhere.
        assert any(stack[-1]["function"] == "main" for stack in objects[label]["stacks"])
    block = objects[f"heap, containers.cpp:{_line('containers.cpp', 'shared')} (main): {of_shared}"]
    assert "shop::Tally::hits" in _fields(block)
    assert "control block of shop::Tally::_M_use_count" in _fields(block)
    node = objects[f"heap, containers.cpp:{_line('containers.cpp', 'node')} (prepend): shop::Node"]
    assert set(_fields(node)) >= {"shop::Node::next", "shop::Node::tally.hits"}
    assert _fields(objects["totals"]) == ["shop::Tally::misses"]


@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_wrappers_of_malloc_are_skipped(build: Builder, record: Recorder, order: str) -> None:
    objects = _objects(record(build("wrappers.c"), order=order))

    def label(mark: str, function: str, type_name: str) -> str:
        return f"heap, wrappers.c:{_line('wrappers.c', mark)} ({function}){type_name}"

    cells = objects[label("cells", "main", ": cell")]
    # gcc clears the cells in line, by writes that begin at any field.
    cleared = {"cell::count", "cell::pair[].first", "cell::position.x"}
    assert set(_fields(cells)) - cleared == {"cell::pair[].second", "cell::position.y"}
    assert label("sums", "main", ": long int") in objects
    assert label("label", "main", ": char") in objects
    assert label("raw", "main", "") in objects, "unknown types are not named"
    assert _fields(objects[label("own", "worker", ": cell")]) == ["cell::count"]
    assert _fields(objects["counters"]) == ["counters::hits"]
    assert f"mapped, wrappers.c:{_line('wrappers.c', 'mapped')} (main)" in objects
    assert [[f["function"] for f in stack] for stack in cells["stacks"]] == [
        ["checked_alloc", "xcalloc", "main"]
    ]


@pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-O3", "-fno-inline"), ("-O2", "-static")])
@pytest.mark.parametrize("order", ["deterministic", "free"])
def test_local_variables_that_threads_use(
    build: Builder, record: Recorder, flags: tuple[str, ...], order: str
) -> None:
    made = record(build("locals.cpp", "-fopenmp", *flags), order=order)
    objects = _objects(made)
    line = _line("locals.cpp", "pool")
    pool = objects[f"local pool, locals.cpp:{line} (in_threads): Pool"]
    assert pool["declared_at"]["function"].startswith("in_threads")
    assert set(_fields(pool)) >= {"Pool::jobs", "Pool::lock", "Pool::done"}
    counts = objects[f"local counts, locals.cpp:{_line('locals.cpp', 'counts')} (main): long int"]
    assert (counts["type"], counts["kind"], counts["bytes"]) == ("long int", "stack-variable", 512)
    assert not any("local own" in label for label in objects), "no other thread uses it"


def test_recordings_with_stacks_repeat(build: Builder, record: Recorder) -> None:
    program = build("containers.cpp", "-O2")
    first, second = record(program), record(program)
    assert first.path.read_bytes() == second.path.read_bytes()


def test_stripped_programs_name_the_function_at_least(
    build: Builder, record: Recorder, tmp_path: Path
) -> None:
    stripped = tmp_path / "stripped"
    line = ["strip", "-o", str(stripped), str(build("wrappers.c"))]
    subprocess.run(line, check=True)
    heap = [label for label in _objects(record(stripped)) if label.startswith("heap")]
    assert heap
    assert all(label.startswith("heap, [stripped+0x") for label in heap), heap


@GFORTRAN
def test_fortran_arrays_modules_and_common_blocks(
    build: Builder, record: Recorder, tmp_path: Path
) -> None:
    # The compiler writes a file for each module.
    objects = _objects(record(build("arrays.f90", "-fopenmp", "-J", str(tmp_path))))
    line = _line("arrays.f90", "cells")
    cells = objects[f"heap cells, arrays.f90:{line} (fill): cell"]
    assert _fields(cells) == ["cell::count"]
    # The arrays of one statement are told apart by the order of its calls.
    line = _line("arrays.f90", "several")
    several = [("field", "real", 512), ("weights", "real", 512), ("counts", "integer", 64)]
    for name, element, size in several:
        array = objects[f"heap {name}, arrays.f90:{line} (fill): {element}(kind=8)"]
        assert array["bytes"] == size
    assert "grid::sums" in objects
    assert _fields(objects["shared"]) == ["shared::hits"]


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-static")])
def test_states_of_generators_are_read_and_written_by_the_library(
    build: Builder, record: Recorder, flags: tuple[str, ...]
) -> None:
    made = record(build("generators.c", *flags))
    for name in ("seeds", "states", "contexts"):
        touched = made.touching(name)
        for thread in (1, 2):
            of_thread = touched["kind"][touched["thread"] == thread]
            # Main prints the first of them, and matches neither.
            reads, writes = ((of_thread == kind).sum() for kind in (0, 1))
            assert (reads, writes) == (100, 100), name

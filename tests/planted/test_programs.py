"""The planted programs are what corpus.toml says: they work, and have the problem, and no other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from planted.record import HERE, KINDS, TWINS, ask, corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from planted.conftest import Twin
    from planted.record import Program

    Twins = Callable[[Program], dict[str, Twin]]

PROGRAMS = corpus()
# References of a recording: enough that the problem shows, few enough that all take a minute.
_LEAST, _MOST = 100_000, 700_000


def _named(program: Program) -> str:
    return program.source.stem


every = pytest.mark.parametrize("program", PROGRAMS, ids=_named)
with_line_problem = pytest.mark.parametrize(
    "program",
    [p for p in PROGRAMS if p.granularity == "line" and p.kind != "none"],
    ids=_named,
)


def _on_a_bus(trace: Path) -> dict[str, Any]:
    processors = ask("info", trace)["threads"]
    words = ("--machine", "bus-smp", "--protocol", "mesi", "--block-size", 64)
    return ask("simulate", trace, *words, "--processors", processors)[0]


def test_the_manifest_names_every_program_once() -> None:
    files = sorted(path.name for path in (HERE / "programs").iterdir())
    assert sorted(program.file for program in PROGRAMS) == files


@every
def test_the_manifest_is_whole(program: Program) -> None:
    assert program.kind in KINDS
    assert set(program.also) < set(KINDS) - {"none", program.kind}
    assert (program.source.suffix == ".cpp") == (program.language == "c++")
    assert program.twin == ("FIXED" in program.source.read_text())
    if program.kind == "none":
        assert program.why
        assert bool(program.cure) == program.twin
    else:
        assert program.twin
        assert program.storage in {"static", "heap"}
        assert len(program.marked_lines(program.marker)) == 1
        assert re.search(rf"\b(?:{program.object})\b", program.source.read_text())


@every
def test_both_twins_do_the_same_work_recorded_or_not(program: Program, twins: Twins) -> None:
    runs = twins(program)
    first = runs["planted"].native
    assert first.code == 0
    assert first.out
    for twin in TWINS:
        assert runs[twin].native == first
        assert runs[twin].recorded == first
        assert runs[twin].trace.read_bytes() == runs[twin].again.read_bytes()
        assert _LEAST <= runs[twin].summary["references"] <= _MOST
        assert program.threads <= runs[twin].summary["threads"] <= program.threads + 1


@with_line_problem
def test_the_fixed_twin_is_faster_on_a_bus(program: Program, twins: Twins) -> None:
    runs = twins(program)
    planted, fixed = (_on_a_bus(runs[twin].trace) for twin in TWINS)
    before, after = (row["misses"]["invalidation_false"] for row in (planted, fixed))
    assert before > 1000
    assert after < before / 10
    assert fixed["cycles"] < 0.95 * planted["cycles"]

"""The planted programs are as corpus.toml describes them: they work, and have only that problem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn
from planted.record import HERE, KINDS, TWINS, Program, corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from planted.conftest import Twin

    Twins = Callable[[Program], dict[str, Twin]]

PROGRAMS = corpus()
# References of a recording: enough that the problem shows, few enough that all take a minute.
_LEAST, _MOST = 100_000, 700_000


def _named(program: Program) -> str:
    return program.source.stem


def _over(*granularities: str, none: bool) -> pytest.MarkDecorator:
    """A test over the programs of these block sizes, without problem or with one."""
    chosen = [p for p in PROGRAMS if p.granularity in granularities and (p.kind == "none") == none]
    return pytest.mark.parametrize("program", chosen, ids=_named)


every = pytest.mark.parametrize("program", PROGRAMS, ids=_named)


def _on_a_bus(twin: Twin, order: str = "clock") -> dict[str, Any]:
    options = {"protocols": "mesi", "block_sizes": 64, "processors": twin.summary["threads"]}
    found = hn.simulate(twin.trace, "bus-smp", order=order, **options)
    return found.rows[0]


def _on_two_sockets(twin: Twin) -> dict[str, Any]:
    # The programs are small: they represent programs whose data fit in no cache.
    found = hn.simulate(twin.trace, "spr-2s", "first-touch", "4K", processors=2, filter="none")
    return found.rows[0]


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
        assert program.storage in {"static", "heap", "mapping", "stack-variable"}
        assert len(program.marked_lines(program.marker)) == 1
        assert re.search(rf"\b(?:{program.object})\b", program.source.read_text())


@every
def test_both_twins_do_the_same_work_recorded_or_not(program: Program, twins: Twins) -> None:
    runs = twins(program)
    first = runs["planted"].native
    assert first.code == 0
    assert first.out
    # The compiler may find vectors for more of the fixed one.
    assert runs["planted"].summary["references"] >= _LEAST
    for twin in TWINS:
        assert runs[twin].native == first
        assert runs[twin].recorded == first
        assert runs[twin].repeatable
        assert runs[twin].summary["references"] <= _MOST
        assert program.threads <= runs[twin].summary["threads"] <= program.threads + 1


@_over("line", none=False)
def test_the_fixed_twin_is_faster_on_a_bus(program: Program, twins: Twins) -> None:
    runs = twins(program)
    planted, fixed = (_on_a_bus(runs[twin]) for twin in TWINS)
    if not program.contended:
        before, after = (_misses(program, row["misses"]) for row in (planted, fixed))
        assert before > 1000
        assert after < before / 10
    assert fixed["cycles"] < 0.95 * planted["cycles"]


def _misses(program: Program, misses: dict[str, int]) -> int:
    """Misses on the planted object."""
    by_bytes = misses["invalidation_true"] if program.unit == "byte" else 0
    return misses["invalidation_false"] + by_bytes


@_over("line", none=False)
def test_the_planted_object_suffers_most(program: Program, twins: Twins) -> None:
    trace = twins(program)["planted"].trace
    found = hn.sharing(trace, block_sizes=64, detail=64, sync="include", count=100)
    assert found.detail is not None
    objects = found.detail["objects"]

    def suffers(found: dict[str, Any]) -> int:
        misses = found["misses"]
        return misses["false_sharing"] + (program.unit == "byte") * misses["true_sharing"]

    worst = max(objects, key=suffers)
    assert worst["kind"] == program.storage
    if program.storage in {"static", "stack-variable"}:
        assert re.fullmatch(rf"(.*::)?(?:{program.object})", worst["name"])
    elif program.storage in {"heap", "mapping"} and program.language == "c":
        assert worst["allocated_at"]["line"] == program.marked_lines(program.marker)[0]


@_over("line", none=True)
def test_an_honest_program_has_no_false_sharing(program: Program, twins: Twins) -> None:
    runs = twins(program)
    planted, fixed = (_on_a_bus(runs[twin]) for twin in TWINS)
    # A replay with a clock does not keep the order in which threads take a lock of their own.
    misses = _on_a_bus(runs["planted"], "trace")["misses"]
    assert misses["invalidation_false"] < planted["references"] / 1000
    if program.twin:
        assert fixed["cycles"] < 0.9 * planted["cycles"]


@_over("page", none=False)
def test_the_fixed_twin_is_cheaper_on_two_sockets(program: Program, twins: Twins) -> None:
    runs = twins(program)
    planted, fixed = (_on_two_sockets(runs[twin])["total_cost"] for twin in TWINS)
    assert fixed < 0.8 * planted


@_over("page", none=True)
def test_an_honest_program_uses_what_is_near(program: Program, twins: Twins) -> None:
    assert _on_two_sockets(twins(program)["planted"])["mcpr"] < 1.05

"""Advice on the planted programs: the planted cause comes first, and the promised gain is real."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from planted.found import MARKS, PAGE, is_about, look, table
from planted.record import TWINS, Program, corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from planted.conftest import Twin

    Twins = Callable[[Program], dict[str, Twin]]

PROGRAMS = corpus()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.source.stem)
def test_the_planted_cause_is_found_and_what_is_promised_comes(
    program: Program, twins: Twins
) -> None:
    runs = twins(program)
    found = look(program, {twin: runs[twin].trace for twin in TWINS})
    # Programs that are fixed, or were never broken, need no advice.
    assert found.twin == ()
    if program.kind == "none":
        assert found.advice is None
        assert set(found.said) == {*filter(None, [program.said])}
    elif program.found == "finding":
        assert is_about(program, found.finding)
        assert program.found_why
    else:
        assert found.advice is not None
        kind, label = found.advice
        assert kind in {program.kind, *program.also}
        assert is_about(program, label)
        assert found.promised < 0.9 * found.before
        assert program.apart or 0.9 < found.ratio < 1.1
    # The documentation's table is about the same; the order of similar advice, and the cost of a
    # program, may depend on the compiler and on addresses.
    row = table([(program, found)]).splitlines()[-1].split(" | ")
    written = [line.split(" | ") for line in _table() if line.startswith(row[0])]
    assert [line[:2] for line in written] == [row[:2]]


def _table() -> list[str]:
    text = PAGE.read_text()
    return text[text.index(MARKS[0]) : text.index(MARKS[1])].splitlines()


def test_the_table_has_a_row_for_every_program() -> None:
    rows = [line for line in _table() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [program.file for program in PROGRAMS]

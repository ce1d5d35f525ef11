"""Conditions and semaphores of real programs: schedulers of processes repeat their waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import homenode as hn

if TYPE_CHECKING:
    from conftest import Builder, Recorder


@pytest.mark.parametrize(
    "options",
    [
        {"quantum": 7},
        {"quantum": 100},
        {"order": "logical", "quantum": 1},
        {"order": "logical"},
        {"order": "free"},
    ],
)
def test_every_wait_ends(build: Builder, record: Recorder, options: dict[str, str | int]) -> None:
    made = record(build("conditions.c"), **options)
    assert made.out == "sum 89700 token 300\n"
    result = hn.simulate(
        made.path, "bus-smp", protocols="mesi", scaling="1-4,8", scheduler="random"
    )
    assert [row["forced"] for row in result] == [0] * 5
    assert len({row["references"] for row in result}) == 1
    # The threads take turns: more processors help little, and most of them wait.
    assert max(row["gsp"] for row in result) < 2

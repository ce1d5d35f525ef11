"""Several analyses at a time."""

import threading
from collections.abc import Callable

import pytest

from homenode.engines import parallel
from homenode.engines.parallel import all_in_parallel

Report = Callable[[int, int | None], None]

_PATIENCE_SECONDS = 20


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda _process: {0, 1})


def test_results_are_in_the_order_of_the_tasks_and_progress_is_the_sum() -> None:
    met = threading.Barrier(2)
    seen: list[tuple[int, int | None]] = []

    def task(number: int, report: Report) -> int:
        met.wait(_PATIENCE_SECONDS)  # fails unless both run at the same time
        report(10 * number, 100)
        return number

    found = all_in_parallel(
        [lambda r: task(1, r), lambda r: task(2, r)], lambda *done: seen.append(done)
    )
    assert found == [1, 2]
    assert seen[-1] == (30, None)
    assert all_in_parallel([], None) == []


def test_a_task_that_fails_ends_the_others() -> None:
    ended = threading.Event()
    started: list[int] = []

    def goes_on(report: Report) -> None:
        started.append(1)
        try:
            while not ended.wait(0.001):
                report(1, None)
        finally:
            ended.set()

    def fails(_report: Report) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        all_in_parallel([goes_on, fails, *[goes_on] * 20], None)
    assert ended.is_set()
    assert len(started) < 20, "analyses that had not begun do not begin"


def test_what_progress_raises_ends_all() -> None:
    def goes_on(report: Report) -> None:
        while True:
            report(1, None)

    def stops(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        all_in_parallel([goes_on] * 3, stops)

"""Two analyses of one trace at a time: neither keeps all processors of the host busy."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int | None], None]

A = TypeVar("A")
B = TypeVar("B")


class _StoppedError(Exception):
    """The other analysis was broken off."""


def beside(
    first: Callable[[Progress], A], second: Callable[[Progress], B], progress: Progress | None
) -> tuple[A, B]:
    """What two analyses come to, each of which calls what it is given with the work done.

    The second runs in this thread and reports for both; what is raised is what the first raises, if
    it does. Ctrl-C, and what ``progress`` raises, ends both.

    >>> seen = []
    >>> beside(lambda report: 1, lambda report: report(2, 3), lambda *done: seen.append(done))
    (1, None)
    >>> seen
    [(2, 3)]
    """
    stopped = threading.Event()

    def watch(_done: int, _total: int | None) -> None:
        if stopped.is_set():
            raise _StoppedError

    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(first, watch)

        def report(done: int, total: int | None) -> None:
            if running.done():
                running.result()
            if progress is not None:
                progress(done, total)

        try:
            other = second(report)
            return running.result(), other
        except BaseException:
            stopped.set()
            error = running.exception()
            if error is not None and not isinstance(error, _StoppedError):
                raise error from None
            raise

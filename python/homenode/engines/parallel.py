"""Runs several analyses in parallel, none of which keeps all processors of the host busy."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

Progress = Callable[[int, int | None], None]

A = TypeVar("A")
B = TypeVar("B")
# Interval between two reports of progress.
_TELLS_SECONDS = 0.2


class _StoppedError(Exception):
    """The other analysis failed or was interrupted."""


def in_parallel(
    first: Callable[[Progress], A], second: Callable[[Progress], B], progress: Progress | None
) -> tuple[A, B]:
    """The results of two analyses, each of which calls its argument with the work done.

    The second runs in this thread and reports for both. An exception of the first is raised before
    one of the second. Ctrl-C and exceptions of ``progress`` end both.

    >>> seen = []
    >>> in_parallel(lambda report: 1, lambda report: report(2, 3), lambda *done: seen.append(done))
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


def all_in_parallel(tasks: Sequence[Callable[[Progress], A]], progress: Progress | None) -> list[A]:
    """The results of several tasks, run in parallel on all processors of the host.

    Each calls its argument with the work done. The first exception of a task is raised; it, Ctrl-C
    and exceptions of ``progress`` end all tasks.

    >>> all_in_parallel([lambda report: 1, lambda report: report(2, 3)], None)
    [1, None]
    """
    stopped = threading.Event()
    done = [0] * len(tasks)

    def watcher(task: int) -> Progress:
        def watch(count: int, _total: int | None) -> None:
            if stopped.is_set():
                raise _StoppedError
            done[task] = count

        return watch

    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        running = [pool.submit(task, watcher(i)) for i, task in enumerate(tasks)]
        try:
            while True:
                left = wait(running, _TELLS_SECONDS, FIRST_EXCEPTION).not_done
                found = [one.result() for one in running if one.done()]
                if progress is not None:
                    progress(sum(done), None)
                if not left:
                    return found
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise

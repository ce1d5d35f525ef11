"""Progress bars: rate and time left, on a terminal, for what takes longer than two seconds."""

import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_QUIET_SECONDS = 1.5


class Progress:
    """A callable ``(done, total)`` for long calls; draws nothing for short work.

    Args:
        title: what is being done, in one or two words.
        unit: what is counted, for the rate.
        growing: a file whose size is shown while it grows.
        quiet: draw nothing.
    """

    def __init__(
        self,
        title: str,
        unit: str = "references",
        *,
        growing: str | os.PathLike[str] | None = None,
        quiet: bool = False,
    ) -> None:
        self._title, self._unit, self._growing = title, unit, growing
        self._bar: Any = None
        self._task: Any = None
        self._start = time.monotonic()
        self._shown = sys.stderr.isatty() and not quiet

    def __enter__(self) -> Self:
        self._start = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, done: int, total: int | None) -> None:
        """Called by the engines with the work done and in all."""
        if not self._shown or time.monotonic() - self._start < _QUIET_SECONDS:
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=done, total=total, rate=self._facts(done, total))

    def _facts(self, done: int, total: int | None) -> str:
        """The rate; before it the work done, where the total is unknown."""
        rate = f"{_short(done / (time.monotonic() - self._start))} {self._unit}/s"
        facts = [rate] if total is not None else [f"{_short(done)} {self._unit}", rate]
        if self._growing is not None:
            try:
                size = Path(self._growing).stat().st_size
            except OSError:
                # It is not there yet, or has its final name already.
                return ", ".join(facts)
            facts.append(f"{_short(size)}B" if size >= 1000 else f"{size} B")
        return ", ".join(facts)

    def _open(self) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._title, total=None, rate="")
        self._bar.start()


def _short(value: float) -> str:
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.1f} {letter}"
    return f"{value:.0f}"

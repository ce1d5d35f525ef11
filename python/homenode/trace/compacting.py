"""`compact`: writes a trace again, better compressed."""

import json
import os
from collections.abc import Callable
from typing import Any

from homenode import _core
from homenode.errors import ConfigError
from homenode.files import check_replaceable
from homenode.trace import Trace

Progress = Callable[[int, int | None], None] | None
PathLike = str | os.PathLike[str]

LEVELS = (1, 22)
"""Lowest and highest level of zstd."""


def write_compact(
    source: PathLike, out: PathLike | None, level: int | None, progress: Progress
) -> dict[str, Any]:
    """Runs `compact` at a valid level; returns its report."""
    if out is not None:
        check_replaceable(out, source)
    target = None if out is None else os.fspath(out)
    report: dict[str, Any] = json.loads(
        _core.compact(os.fspath(source), target, level or 0, progress)
    )
    return report


def compact(
    trace: Trace | PathLike,
    out: PathLike | None = None,
    *,
    level: int | None = None,
    progress: Progress = None,
) -> Trace:
    """Compresses a trace better: the same references, events and metadata in fewer bytes.

    Args:
        trace: a `Trace` or the path of one.
        out: the trace to write; without it the trace itself is replaced, if that makes it smaller.
        level: zstd's level, 1 to 22 (default 12; recordings are written at 3). A higher level makes
            a smaller file, takes longer to write and is as fast to read.
        progress: called with the references done and in all.

    Returns:
        The new trace; its checksum is the same as before.

    Raises:
        ConfigError: when there is no such level.
        TraceError: when the trace is damaged or the new one cannot be written; the old one stays
            unchanged.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=0, kind="R", address=[0x40, 0x80, 0xc0])
    >>> hn.compact(trace).checksum == trace.checksum
    True
    """
    if level is not None and not LEVELS[0] <= level <= LEVELS[1]:
        raise ConfigError(f"level: expected {LEVELS[0]} to {LEVELS[1]}, found {level}")
    source = trace.path if isinstance(trace, Trace) else trace
    write_compact(source, out, level, progress)
    if out is None and isinstance(trace, Trace):
        # The same object, which may own a temporary file.
        trace._read_info()
        return trace
    return Trace.open(source if out is None else out)

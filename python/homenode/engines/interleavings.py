"""Bounds of costs without a clock: the cost of a trace when its threads take other turns."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Unpack

from homenode.engines.sensitivity import compare
from homenode.engines.simulation import simulate
from homenode.engines.table import refuse_interleavings
from homenode.options.checked import only_declared
from homenode.options.typed import SimulateOptions
from homenode.options.values import specs_of
from homenode.trace import Trace
from homenode.trace.transforms import transform

QUANTA = (1, 30, 1000)
"""References of a turn: from the finest turns to coarse ones."""


def interleavings(
    trace: Trace | str | os.PathLike[str],
    machine: str | Iterable[str],
    policy: str | Iterable[str],
    block_size: str | int | Iterable[int],
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[SimulateOptions],
) -> list[dict[str, Any]]:
    """Bounds the costs of a trace over other lengths of its threads' turns.

    Prices without a clock are paid reference by reference in the order of the trace, and so depend
    on the turns of its recording. This makes other orders of the trace, under its synchronisation,
    and simulates each: one for each of `QUANTA`, besides the trace's own.

    Args:
        trace: a `Trace` or the path of one.
        machine: machines with prices, as for `homenode.simulate`.
        policy: as for `homenode.simulate`.
        block_size: as for `homenode.simulate`.
        progress: called with the work done and in all, for each order anew.
        options: see `SimulateOptions`.

    Returns:
        One dictionary a machine, block size and policy, as the rows of
        `homenode.SensitivityResult`: orders, mean, min and max of the MCPR, deviation and spread.

    Raises:
        ConfigError: when something cannot be used.
        TraceError: when the trace is damaged.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0] * 40 + [1] * 40, kind="W", address=64)
    >>> [row] = hn.interleavings(trace, "prices:r=15,R=59", "optimal", 64)
    >>> row["orders"], row["min"] < row["max"]
    (4, True)
    """
    only_declared("simulate", options)
    refuse_interleavings(specs_of(machine, "machine"), {})
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    if (word_bytes := options.pop("word_bytes", None)) is not None:
        # Turns are of references, and these are words.
        opened = transform("words", opened, word_bytes=word_bytes, progress=progress)
    matrix = (machine, policy, block_size)
    results = [simulate(opened, *matrix, progress=progress, **options)]
    for quantum in QUANTA:
        order = transform("reinterleave", opened, quantum=quantum, progress=progress)
        results.append(simulate(order, *matrix, progress=progress, **options))
    return compare(results)[0]

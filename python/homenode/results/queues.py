"""Mean waits in queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from homenode.engines.page_use import PageUse

# A shorter mean wait is shown as 0.
_NO_WAIT = 0.05


def mean_wait(cycles: int | np.integer[Any], count: int | np.integer[Any]) -> str:
    """The mean wait of `count` requests, in cycles.

    >>> mean_wait(5118, 2), mean_wait(1, 1000), mean_wait(37, 5)
    ('2,559', '0', '7.4')
    """
    mean = int(cycles) / max(1, int(count))
    return f"{mean:,.0f}" if mean >= 10 or mean < _NO_WAIT else f"{mean:.1f}"


def loads(use: PageUse, node: int, cycles: int) -> tuple[list[float], list[str]]:
    """Of a home's controllers, and of its memory, the part of a run in use, and the mean wait.

    Args:
        use: what homes did.
        node: the home.
        cycles: of the run.
    """
    time = max(1, cycles * int(use.home_controllers[node]))
    busy = (use.home_lookup_cycles, use.home_access_cycles)
    waits = (
        (use.home_lookup_waits, use.home_lookups),
        (use.home_access_waits, use.home_accesses),
    )
    return (
        [int(of[node]) / time for of in busy],
        [mean_wait(of[node], count[node]) for of, count in waits],
    )

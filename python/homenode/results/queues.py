"""How long was waited in queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# A mean wait of fewer cycles is none.
_NO_WAIT = 0.05


def mean_wait(cycles: int | np.integer[Any], count: int | np.integer[Any]) -> str:
    """For how long each of `count` waited, in cycles.

    >>> mean_wait(5118, 2), mean_wait(1, 1000), mean_wait(37, 5)
    ('2,559', '0', '7.4')
    """
    mean = int(cycles) / max(1, int(count))
    return f"{mean:,.0f}" if mean >= 10 or mean < _NO_WAIT else f"{mean:.1f}"

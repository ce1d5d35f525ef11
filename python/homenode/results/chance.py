"""How much of what is said may be chance, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDE = 0.1
"""A bracket whose ends are further apart than this part of its mean says little by either."""


def time_varies(point: Mapping[str, Any]) -> str:
    """How much the time varies by chance, of a point of advice; empty if nothing was repeated.

    >>> time_varies({"chance": {"runs": 10, "cycles": [95, 105], "speed_up": None}})
    ' for sure: the time varies by 10.0% when latencies are up to 9 cycles longer'
    """
    found = point["chance"]
    if found is None:
        return ""
    least, most = found["cycles"]
    part = 200 * (most - least) / max(most + least, 1)
    return f" for sure: the time varies by {part:.1f}% {_longer(found)}"


def speed_up_range(point: Mapping[str, Any]) -> str:
    """Between what the speed-up lies; empty if there is none.

    >>> speed_up_range({"chance": {"runs": 4, "cycles": [95, 105], "speed_up": [1.204, 1.251]}})
    ' (1.20 to 1.25 when latencies are up to 3 cycles longer)'
    """
    found = point["chance"]
    if found is None or found["speed_up"] is None:
        return ""
    least, most = found["speed_up"]
    return f" ({least:.2f} to {most:.2f} {_longer(found)})"


def _longer(found: Mapping[str, Any]) -> str:
    most = found["runs"] - 1
    return f"when latencies are up to {most} cycle{'s' if most > 1 else ''} longer"

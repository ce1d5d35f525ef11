"""Sentences about how much of a result may be chance."""

from collections.abc import Mapping
from typing import Any

from homenode.options.specs import plural

WIDE = 0.1
"""The width of a bracket, as a part of its mean, above which neither end means much."""


def time_varies(point: Mapping[str, Any]) -> str:
    """How much the time of a point of advice varies by chance; empty without repetitions.

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
    """The bounds of the speed-up; empty if there are none.

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
    return f"when latencies are up to {most} {plural(most, 'cycle')} longer"

"""Rules for the study's claims, in addition to those that all studies share.

Each rule is first applied to the paper's own numbers: the same function computes a claim from the
printed numbers and from ours.
"""

from collections.abc import Callable
from typing import Any

from homenode_studies.studies.claims import CLOSE, MOST, TIE

POINTS = 0.05
"""The tolerance of a percentage, as in all studies."""


def near(published: float) -> Callable[[Any], bool]:
    """Whether all shares are close to the published one.

    That is within five points, or within two, a tie, if the published one is less than that.
    """
    allowed = POINTS if abs(published) > TIE else TIE
    return lambda value: all(abs(item - published) <= allowed for item in _items(value))


def not_worse(value: Any) -> bool:
    """Whether no ratio of times is above one by more than a tie."""
    return all(item <= 1 + TIE for item in _items(value))


def better(value: Any) -> bool:
    """Whether all ratios of times are below one."""
    return all(item < 1 for item in _items(value))


def worse(value: Any) -> bool:
    """Whether all ratios of times are above one by more than a tie."""
    return all(item > 1 + TIE for item in _items(value))


def marginally_worse(value: Any) -> bool:
    """Whether all ratios of times are above one, by however little, and none by over a tenth."""
    return all(1 < item <= CLOSE for item in _items(value))


def degraded_and_improved(value: Any) -> bool:
    """Whether the first ratio of times is above one and the second below, by however little."""
    degraded, improved = _items(value)
    return improved < 1 < degraded


def not_better(value: Any) -> bool:
    """Whether no ratio of times is below one by more than a tie."""
    return all(item >= 1 - TIE for item in _items(value))


def worse_but_for_one(value: Any) -> bool:
    """Whether at most one ratio is below one, and some are above it by more than a tie."""
    items = _items(value)
    return sum(item < 1 for item in items) <= 1 and any(item > 1 + TIE for item in items)


def best_but_for_one(value: Any) -> bool:
    """Whether at most one ratio to the best is above one by more than a tie."""
    return sum(item > 1 + TIE for item in _items(value)) <= 1


def most(test: Callable[[float], bool]) -> Callable[[Any], bool]:
    """Whether more than half of the values satisfy a rule."""
    return lambda value: sum(test(item) for item in _items(value)) > MOST * len(_items(value))


def within_points(value: Any) -> bool:
    """Whether more than half of the differences are at most five points."""
    return most(lambda item: abs(item) <= POINTS)(value)


def _items(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [float(item) for item in value.values()]
    return [float(value)]

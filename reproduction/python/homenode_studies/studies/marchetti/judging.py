"""Rules for the study's claims, in addition to those that all studies share.

Each rule is first applied to the paper's own statement, in the form of our value.
"""

from collections.abc import Callable, Iterable
from typing import Any

from homenode_studies.studies.claims import CLOSE, MOST
from homenode_studies.studies.marchetti import MP3D

POINTS = 0.05
"""The tolerance of a percentage, as in all studies."""
THIRD = 1 / 3
"""Many are at least this share."""


def within(low: float, high: float) -> Callable[[Any], bool]:
    """Whether every share is from `low` to `high`, within five points."""
    return lambda value: all(_inside(item, low, high) for item in value.values())


def most_within(low: float, high: float) -> Callable[[Any], bool]:
    """Whether more than half of the shares are from `low` to `high`, within five points."""
    return lambda value: part(_inside(item, low, high) for item in value.values()) > MOST


def most(test: Callable[[float], bool]) -> Callable[[Any], bool]:
    """Whether more than half of the values satisfy a rule."""
    return lambda value: part(test(item) for item in value.values()) > MOST


def many(test: Callable[[float], bool]) -> Callable[[Any], bool]:
    """Whether a third of the values or more satisfy a rule."""
    return lambda value: part(test(item) for item in value.values()) >= THIRD


def slightly_more(value: Any) -> bool:
    """Whether all ratios are above one, and none by more than a tenth."""
    return all(1 < item <= CLOSE for item in value.values())


def highest_about(published: float) -> Callable[[Any], bool]:
    """Whether the largest share is within five points of the published one."""
    return lambda value: abs(max(value.values()) - published) <= POINTS


def all_but(exception: str, test: Callable[[float], bool]) -> Callable[[Any], bool]:
    """Whether all values satisfy a rule, except that of `exception`, which must not."""
    return lambda value: all(test(item) != (name == exception) for name, item in value.items())


def comparable(value: float) -> bool:
    """Whether a ratio is within a fifth of one."""
    return 1 / 1.2 <= value <= 1.2


def comparable_but_mp3d(value: Any) -> bool:
    """Whether all are within a fifth, except mp3d, which must not be."""
    return all_but(MP3D, comparable)(value)


def part(flags: Iterable[bool]) -> float:
    """The share of true values."""
    listed = list(flags)
    return sum(listed) / len(listed) if listed else 0.0


def _inside(value: float, low: float, high: float) -> bool:
    return low - POINTS <= value <= high + POINTS

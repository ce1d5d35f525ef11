"""Draws: the values of the same experiments with several seeds, and their median."""

import statistics
from collections.abc import Sequence
from typing import Any

FIRST_SEED = 1
"""The seed of tables and figures."""
SEEDS = 5
"""Seeds with which a study whose results depend on a seed runs by default."""
_APART = 13
"""Nodes between the first nodes of two seeds: prime, so that five seeds differ on any machine of
eight nodes or more."""


def home_with(home: str, seed: int) -> str:
    """A policy of homes in the engine's notation: each seed deals pages out from another node on.

    >>> home_with("round-robin", 1), home_with("round-robin", 3), home_with("first-use", 3)
    ('round-robin', 'round-robin:first=26', 'first-use')
    """
    first = _APART * (seed - FIRST_SEED)
    return f"{home}:first={first}" if home == "round-robin" and first else home


def question_with(seed: int) -> dict[str, int]:
    """What a seed adds to the options by which results are kept."""
    return {} if seed == FIRST_SEED else {"seed": seed}


def is_number(value: Any) -> bool:
    """Whether a value is a number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def median(values: Sequence[Any]) -> Any:
    """The median of values that have the same form.

    Numbers have a median; truth values and texts the most frequent one (the first, if several are);
    mappings and sequences of the same size one for each element. Of lists and sets that differ in
    size, it is the list of what more than half of them have.

    >>> median([3, 1, 2]), median([True, False, True]), median([{"fft": 1.0}, {"fft": 3.0}])
    (2, True, {'fft': 2.0})
    >>> median([["fft"], [], ["fft", "lu"]])
    ['fft']
    """
    first = values[0]
    if all(is_number(value) for value in values):
        return statistics.median(values)
    if isinstance(first, dict):
        common = [name for name in first if all(name in value for value in values)]
        return {name: median([value[name] for value in values]) for name in common}
    if isinstance(first, list | tuple | set | frozenset):
        return _of_several(values)
    return statistics.mode(values)


def _of_several(values: Sequence[Any]) -> list[Any]:
    sizes = {len(value) for value in values}
    if len(sizes) == 1 and not isinstance(values[0], set | frozenset):
        return [median(elements) for elements in zip(*values, strict=True)]
    every = list(dict.fromkeys(item for value in values for item in value))
    return [item for item in every if 2 * sum(item in value for value in values) > len(values)]

"""Reasons for differences, with numbers that are computed from the results they explain."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any

from homenode_studies.studies.draws import median
from homenode_studies.studies.tables import Evidence, Missing

Number = Callable[[Evidence], Any]
"""A number of a reason: a number, several, or several by name."""
_NO_NUMBER = "–"


@dataclass(frozen=True)
class Reason:
    """A reason whose numbers come from the results, so that it is true of every run.

    Attributes:
        text: the reason, with a replacement field in the notation of `str.format` for each number.
        numbers: how each field is computed.
    """

    text: str
    numbers: Mapping[str, Number] = field(default_factory=dict)

    def said(self, found: Sequence[Evidence]) -> str:
        """The reason with its numbers: the median of those that the evidence has.

        >>> Reason("it is {part:.0f} %", {"part": lambda _: 12.3}).said([Evidence({}, {})])
        'it is 12 %'
        """
        values = {name: _of(compute, found) for name, compute in self.numbers.items()}
        return _Fields().vformat(self.text, (), values)

    def with_numbers(self, change: Callable[[Number], Number]) -> "Reason":
        """The same reason with every number computed in another way."""
        return replace(self, numbers={name: change(it) for name, it in self.numbers.items()})


def said(why: str | Reason, found: Sequence[Evidence]) -> str:
    """A reason as text."""
    return why if isinstance(why, str) else why.said(found)


def _of(compute: Number, found: Sequence[Evidence]) -> Any:
    values = []
    for evidence in found:
        with suppress(Missing, ZeroDivisionError):
            values.append(compute(evidence))
    return median(values) if values else None


class _Fields(Formatter):
    """Applies a format to each of several numbers, and says where a run has none."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if value is None:
            return _NO_NUMBER
        if isinstance(value, Mapping):
            each = (f"{name} {format(item, format_spec)}" for name, item in value.items())
            return ", ".join(each)
        if isinstance(value, list):
            *before, last = (format(item, format_spec) for item in value)
            return f"{', '.join(before)} and {last}" if before else last
        return format(value, format_spec)

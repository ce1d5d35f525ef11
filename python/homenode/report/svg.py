"""Small pieces of SVG: elements with escaped attributes, logarithmic scales, ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup, escape

from homenode.sanitize import sanitized

_LOG_STEPS = (1, 2, 5)
_FEW_DECADES = 1.2


def element(name: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """One element; ``class_`` is class, ``stroke_width`` is stroke-width, None is left out.

    >>> element("text", "a < b", x=1.50, class_="tick")
    Markup('<text x="1.5" class="tick">a &lt; b</text>')
    """
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            spelled = key.rstrip("_").replace("_", "-")
            words.append(f'{spelled}="{escape(_plain(value))}"')
    inside = Markup("").join(_content(child) for child in children)
    return Markup(f"<{' '.join(words)}>{inside}</{name}>")  # noqa: S704 - every part is escaped


def _content(child: str | Markup) -> Markup:
    """Other elements unchanged; text without the characters that XML forbids."""
    return child if isinstance(child, Markup) else escape(sanitized(child, lines=True))


def _plain(value: str | float) -> str:
    return sanitized(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def path_of(points: list[tuple[float, float] | None]) -> str:
    """A line through the points, broken where one is missing.

    >>> path_of([(0, 1), (2, 3), None, (4, 5)])
    'M0 1L2 3M4 5'
    """
    words = []
    pen = "M"
    for point in points:
        if point is None:
            pen = "M"
            continue
        words.append(f"{pen}{_plain(float(point[0]))} {_plain(float(point[1]))}")
        pen = "L"
    return "".join(words)


@dataclass(frozen=True)
class LogScale:
    """Maps values to positions, equal ratios to equal distances.

    Attributes:
        low: smallest value, positive.
        high: largest value.
        start: position of `low`.
        end: position of `high`.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        if self.high <= self.low:
            return (self.start + self.end) / 2
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values between low and high: 1, 2, 5, 10, ...; finer when there are few.

        >>> LogScale(1, 12, 0, 1).ticks()
        [1, 2, 5, 10]
        >>> LogScale(1.5, 9.6, 0, 1).ticks()
        [2, 4, 6, 8]
        """
        decades = math.log10(self.high / self.low)
        steps: tuple[float, ...] = (1,) if decades > 3 * _FEW_DECADES else _LOG_STEPS
        found = self._round_values(steps)
        if len(found) < 3:
            found = self._linear()
        return found

    def _round_values(self, steps: tuple[float, ...]) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        exact = (step * 10**power for power in range(first, last + 1) for step in steps)
        slack = 1 + 1e-9
        return [v for v in exact if self.low / slack <= v <= self.high * slack]

    def _linear(self) -> list[float]:
        width = (self.high - self.low) / 4
        if width <= 0:
            return [self.low]
        power = 10 ** math.floor(math.log10(width))
        found: list[float] = []
        # The widest step that has three ticks.
        for step in (10 * power, 5 * power, 2 * power, power):
            first = math.ceil(self.low / step)
            last = math.floor(self.high / step + 1e-9)
            found = [round(i * step, 12) for i in range(first, last + 1)]
            if len(found) >= 3:
                break
        return found

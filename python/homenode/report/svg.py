"""Small pieces of SVG: elements with escaped attributes, logarithmic scales, ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup, escape

from homenode.report.sentences import short_size
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


def series(
    points: list[tuple[float, float] | None], dashes: str | None = None, **attributes: str | None
) -> Markup:
    """A line through points, with a dot at each."""
    line = element("path", d=path_of(points), stroke_dasharray=dashes)
    dots = [element("circle", cx=p[0], cy=p[1], r=2.2) for p in points if p is not None]
    return element("g", line, *dots, **attributes)


def squares(
    cells: Iterable[tuple[str, int, int]], corner: tuple[float, float], size: tuple[float, float]
) -> Markup:
    """Cells of a map, one path for each class: small, and quick to draw.

    Args:
        cells: class, column and row of each.
        corner: the place of the first cell.
        size: width and height of a cell.
    """
    (left, top), (across, down) = corner, size
    paths: dict[str, list[str]] = {}
    for name, column, row in cells:
        where = f"M{left + column * across:.2f} {top + row * down:g}"
        paths.setdefault(name, []).append(f"{where}h{across:.2f}v{down:g}h-{across:.2f}z")
    return Markup("").join(
        element("path", class_=name, d="".join(paths[name])) for name in sorted(paths)
    )


def row_numbers(count: int, corner: tuple[float, float], down: float) -> Markup:
    """The numbers of the rows of a map, left of it; not all where rows are narrow."""
    left, top = corner
    return Markup("").join(
        element("text", str(n), class_="tick y", x=left - 6, y=top + n * down + down / 2 + 4)
        for n in range(0, count, max(1, math.ceil(12 / down)))
    )


def brackets(
    names: Sequence[str],
    corner: tuple[float, float],
    across: float,
    *,
    inset: float = 1.0,
    text: str = "tick x",
    letter: float = 6.2,
    is_named_only: bool = False,
) -> Markup:
    """Brackets under the columns of a map, one for each object.

    Args:
        names: the object of each column; its name is drawn if the bracket is wide enough.
        corner: where the brackets begin.
        across: the width of a column.
        inset: the distance between a bracket and the first and last column.
        text: the class of the names.
        letter: the width of a letter.
        is_named_only: whether brackets without a name are left out.
    """
    parts, start, y = [], 0, corner[1]
    for name, group in groupby(names):
        count = len(list(group))
        left, width = corner[0] + start * across, count * across
        is_named = bool(name) and width > len(name) * letter
        if is_named or not is_named_only:
            line = f"M{left + inset:.1f} {y:g}v4h{max(width - 2 * inset, 0.5):.1f}v-4"
            parts.append(element("path", class_="bracket", d=line))
        if is_named:
            parts.append(element("text", name, class_=text, x=left + width / 2, y=y + 18))
        start += count
    return Markup("").join(parts)


@dataclass(frozen=True)
class Frame:
    """The area of a plot against block size; of more than `crowded` sizes half are labelled."""

    left: float
    right: float
    bottom: float
    label: float
    crowded: int

    def axes(
        self, sizes: Sequence[int], across: LogScale, ticks: Iterable[tuple[float, str]]
    ) -> Markup:
        """A line and its text for each tick, and the block sizes; every second where crowded."""
        parts = []
        for y, text in ticks:
            parts.append(element("line", class_="grid", x1=self.left, x2=self.right, y1=y, y2=y))
            parts.append(element("text", text, class_="tick y", x=self.left - 6, y=y + 4))
        for size in sizes[:: 2 if len(sizes) > self.crowded else 1]:
            place = {"x": across(size), "y": self.bottom + 16}
            parts.append(element("text", short_size(size), class_="tick x", **place))
        middle = (self.left + self.right) / 2
        parts.append(element("text", "block size", class_="axis", x=middle, y=self.label))
        return Markup("").join(parts)


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

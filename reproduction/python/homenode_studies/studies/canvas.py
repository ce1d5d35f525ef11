"""The parts of all figures of studies: size, scales, text and rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from homenode.report.svg import element
from homenode_studies.studies.tables import Figure

WIDTH, LEFT, TOP, HEIGHT = 640, 56, 34, 250
RIGHT = WIDTH - 14
_QUIET = "0.16"


@dataclass(frozen=True)
class LinearScale:
    """Maps values to positions, equal differences to equal distances."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        if self.high <= self.low:
            return (self.start + self.end) / 2
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Four to eight round values from low to high.

        >>> LinearScale(0, 1000, 0, 1).ticks()
        [0, 200, 400, 600, 800, 1000]
        """
        width = (self.high - self.low) / 7
        if width <= 0:
            return [self.low]
        power = 10 ** math.floor(math.log10(width))
        step = next((s * power for s in (1, 2, 5, 10) if s * power >= width), 10 * power)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]


def text(
    said: str, x: float, y: float, *, anchor: str = "middle", size: float | None = None
) -> Markup:
    """A text at a place."""
    return element("text", said, x=x, y=y, text_anchor=anchor, font_size=size)


def rule(x1: float, y1: float, x2: float, y2: float) -> Markup:
    """A light line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", stroke_opacity=_QUIET)


def svg(figure: Figure, parts: Sequence[Markup], height: float) -> Markup:
    """The whole figure, self-contained."""
    attributes: dict[str, Any] = {"viewBox": f"0 0 {WIDTH} {height:.0f}"}
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        **attributes,
        role="img",
        aria_label=figure.title,
        font_family="system-ui, 'DejaVu Sans', sans-serif",
        font_size=11,
        fill="currentColor",
    )

"""Draws the sharing map: processors down, touched memory across, darker where referenced more."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from homenode.report.svg import element

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVELS = 6
_LEFT = 34.0
_WIDTH = 900.0
_CELL_MAX = 24.0
_ROW_MIN, _ROW_MAX, _HEIGHT = 5.0, 16.0, 240.0
_LETTER = 6.5


def draw(sharing: dict[str, Any]) -> Markup:
    """The map as SVG: colour says who else touches a stretch, darkness how often.

    Args:
        sharing: the map of ``_core.worst_blocks``: ``rows`` with address, object, reads, writes.
    """
    stretches = sharing["rows"]
    processors = len(stretches[0]["reads"])
    across = min(_CELL_MAX, _WIDTH / len(stretches))
    down = min(_ROW_MAX, max(_ROW_MIN, _HEIGHT / processors))
    width, height = len(stretches) * across, processors * down
    names = [row["object"] for row in stretches]
    return element(
        "svg",
        _cells(stretches, across, down),
        _labels(processors, down),
        _objects(names, across, height),
        element("rect", class_="cell-cursor", x=0, y=0, width=across, height=down),
        viewBox=f"0 0 {_LEFT + max(width, _WIDTH) + 4:.0f} {height + 34:.0f}",
        class_="heat",
        tabindex="0",
        role="img",
        aria_label=f"Sharing map: {processors} processors by {len(stretches)} stretches of "
        "memory. Arrow keys move between cells.",
        data_left=_LEFT,
        data_cell=f"{across:.4f}",
        data_row=down,
    )


def _cells(stretches: Sequence[dict[str, Any]], across: float, down: float) -> Markup:
    """One path for each colour and darkness: small, and quick to draw."""
    largest = max(max(map(sum, zip(s["reads"], s["writes"], strict=True))) for s in stretches)
    groups: dict[str, list[str]] = {}
    for column, stretch in enumerate(stretches):
        counts = list(zip(stretch["reads"], stretch["writes"], strict=True))
        shared = sum(reads + writes > 0 for reads, writes in counts) > 1
        for processor, (reads, writes) in enumerate(counts):
            if reads + writes:
                kind = ("w" if writes else "r") if shared else "o"
                where = f"M{_LEFT + column * across:.2f} {processor * down:g}"
                groups.setdefault(f"{kind}{level(reads + writes, largest)}", []).append(
                    f"{where}h{across:.2f}v{down:g}h-{across:.2f}z"
                )
    return Markup("").join(
        element("path", class_=f"heat-{name}", d="".join(groups[name])) for name in sorted(groups)
    )


def level(count: int, largest: int) -> int:
    """How dark a cell is: 1 to `LEVELS`, logarithmic in its references.

    >>> level(1, 1000), level(1000, 1000)
    (1, 6)
    """
    if largest <= 1:
        return LEVELS
    return 1 + min(LEVELS - 1, int(LEVELS * math.log(count) / math.log(largest)))


def _labels(processors: int, down: float) -> Markup:
    step = max(1, math.ceil(12 / down))
    return Markup("").join(
        element("text", str(p), class_="tick y", x=_LEFT - 6, y=p * down + down / 2 + 4)
        for p in range(0, processors, step)
    )


def _objects(names: Sequence[str], across: float, height: float) -> Markup:
    """Brackets under the map with the names of the objects that are wide enough for them."""
    parts = []
    start = 0
    for name, group in groupby(names):
        end = start + len(list(group))
        width = (end - start) * across
        if name and width > len(name) * _LETTER:
            left, y = _LEFT + start * across, height + 8
            line = f"M{left + 1:.1f} {y:g}v4h{width - 2:.1f}v-4"
            parts.append(element("path", class_="bracket", d=line))
            parts.append(element("text", name, class_="tick x", x=left + width / 2, y=y + 18))
        start = end
    return Markup("").join(parts)

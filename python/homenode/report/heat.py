"""Draws the sharing map: threads down, touched memory across, darker where more is referenced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from homenode.report.svg import element

if TYPE_CHECKING:
    from homenode.report.sharing import SharingMap

LEVELS = 6
_CELL = 6.0
_LEFT = 34.0
_MIN_HEIGHT, _MAX_HEIGHT = 5.0, 16.0
_LABEL_COLUMNS_PER_LETTER = 1.15


def draw(found: SharingMap) -> Markup:
    """The map as SVG: colour says who else touches it, darkness how often."""
    threads, columns = found.reads.shape
    cell = min(_MAX_HEIGHT, max(_MIN_HEIGHT, 240 / threads))
    height, width = threads * cell, columns * _CELL
    parts = [_cells(found, cell), _thread_labels(threads, cell), _objects(found.names, height)]
    parts.append(element("rect", class_="cell-cursor", x=0, y=0, width=_CELL, height=cell))
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {_LEFT + width + 4:.0f} {height + 34:.0f}",
        class_="heat",
        tabindex="0",
        role="img",
        aria_label=f"Sharing map: {threads} threads by {columns} stretches of memory. "
        "Arrow keys move between cells.",
        data_left=_LEFT,
        data_cell=_CELL,
        data_row=cell,
    )


def data(found: SharingMap) -> dict[str, Any]:
    """What the browser needs to tell the numbers behind a cell."""
    return {
        "reads": found.reads.tolist(),
        "writes": found.writes.tolist(),
        "first": [f"{address:#x}" for address in found.first.tolist()],
        "last": [f"{address + 63:#x}" for address in found.last.tolist()],
        "names": found.names,
    }


def _cells(found: SharingMap, cell: float) -> Markup:
    total = found.reads + found.writes
    largest = max(int(total.max()), 1)
    shared = (total > 0).sum(axis=0) > 1
    groups: dict[str, list[str]] = {}
    threads, columns = total.shape
    for thread in range(threads):
        for column in range(columns):
            count = int(total[thread, column])
            if count:
                kind = "w" if found.writes[thread, column] else "r"
                kind = kind if shared[column] else "o"
                where = f"M{_LEFT + column * _CELL:g} {thread * cell:g}"
                groups.setdefault(f"{kind}{level(count, largest)}", []).append(
                    f"{where}h{_CELL:g}v{cell:g}h-{_CELL:g}z"
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


def _thread_labels(threads: int, cell: float) -> Markup:
    step = max(1, math.ceil(12 / cell))
    return Markup("").join(
        element("text", str(t), class_="tick y", x=_LEFT - 6, y=t * cell + cell / 2 + 4)
        for t in range(0, threads, step)
    )


def _objects(names: list[str], height: float) -> Markup:
    """Brackets under the map with the names of the larger objects."""
    parts = []
    start = 0
    for end in range(1, len(names) + 1):
        if end < len(names) and names[end] == names[start]:
            continue
        name, width = names[start], (end - start) * _CELL
        if name and end - start > len(name) * _LABEL_COLUMNS_PER_LETTER:
            left = _LEFT + start * _CELL
            y = height + 8
            parts.append(
                element("path", class_="bracket", d=f"M{left + 1:g} {y:g}v4h{width - 2:g}v-4")
            )
            parts.append(element("text", name, class_="tick x", x=left + width / 2, y=y + 18))
        start = end
    return Markup("").join(parts)

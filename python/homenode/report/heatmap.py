"""Draws the sharing map: processors down, touched memory across, darker where referenced more."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from homenode.report.svg import brackets, element, row_numbers, squares

LEVELS = 6
_LEFT = 34.0
_WIDTH = 900.0
_CELL_MAX = 24.0
_ROW_MIN, _ROW_MAX, _HEIGHT = 5.0, 16.0, 240.0


def draw(sharing: dict[str, Any]) -> Markup:
    """The map as SVG: colours show sharing, darkness how often a stretch is referenced.

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
        squares(_cells(stretches), (_LEFT, 0), (across, down)),
        row_numbers(processors, (_LEFT, 0), down),
        brackets(names, (_LEFT, height + 8), across, letter=6.5, is_named_only=True),
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


def _cells(stretches: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int, int]]:
    """Class, column and row of every cell with references."""
    largest = max(max(map(sum, zip(s["reads"], s["writes"], strict=True))) for s in stretches)
    for column, stretch in enumerate(stretches):
        counts = list(zip(stretch["reads"], stretch["writes"], strict=True))
        shared = sum(reads + writes > 0 for reads, writes in counts) > 1
        for processor, (reads, writes) in enumerate(counts):
            if reads + writes:
                kind = ("w" if writes else "r") if shared else "o"
                yield f"heat-{kind}{level(reads + writes, largest)}", column, processor


def level(count: int, largest: int) -> int:
    """How dark a cell is: 1 to `LEVELS`, logarithmic in its references.

    >>> level(1, 1000), level(1000, 1000)
    (1, 6)
    """
    if largest <= 1:
        return LEVELS
    return 1 + min(LEVELS - 1, int(LEVELS * math.log(count) / math.log(largest)))

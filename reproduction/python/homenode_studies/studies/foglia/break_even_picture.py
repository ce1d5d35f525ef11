"""The picture of the break-even: where the paper, recordings and statistics lie."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from homenode.options.specs import unique
from homenode.report.svg import LogScale, element, path_of
from homenode_studies.studies.canvas import LEFT, RIGHT, WIDTH, LinearScale, rule, text
from homenode_studies.studies.foglia.break_even import (
    EXTENDED_NAME,
    OF_RECORDINGS,
    OF_STATISTICS,
    PAPER,
    SESSIONS,
    Place,
    break_even,
)
from homenode_studies.studies.tables import Picture

TITLE = "Power of PSCR over that of MESI by writes for each takeover"
_TOP, _BOTTOM = 86, 350
_COLOURS = {
    PAPER: "#d55e00",
    OF_RECORDINGS: "#0072b2",
    OF_STATISTICS: "#009e73",
    SESSIONS: "#7a5c45",
}
_LEAST_RADIUS, _RADIUS = 2.5, 5.0
"""The radius at no writes, and what the root of the writes for 100 references adds."""


def picture(found: Sequence[Place]) -> Picture:
    """The picture of all places."""
    note = (
        "16 processors, 2 MB, 128-byte blocks, affinity. The area of a circle grows with PSCR's "
        "writes for 100 references; rings are PSCR whose private areas include the kernel's. "
        "Dashed: the break-even by the bus alone, of table 4, for blocks of 32 and 128 bytes."
    )
    return Picture("break-even", TITLE, str(_drawn(found)), note)


def _drawn(found: Sequence[Place]) -> Markup:
    across = LogScale(
        min(1.0, *(place.writes for place in found)),
        1.15 * max(10.0, *(place.writes for place in found)),
        LEFT,
        RIGHT,
    )
    ratios = [place.ratio for place in found]
    up = LinearScale(min(0.8, *ratios) - 0.05, max(1.2, *ratios) + 0.05, _BOTTOM, _TOP)
    parts = [*_axes(across, up), *_limits(across)]
    parts.append(_line([place for place in found if place.group == SESSIONS], across, up))
    parts += [_mark(place, across(place.writes), up(place.ratio)) for place in found]
    for group in (PAPER, OF_RECORDINGS, OF_STATISTICS):
        parts += _names([place for place in found if place.group == group], across, up)
    return _svg([*parts, *_legend(found)])


def _axes(across: LogScale, up: LinearScale) -> list[Markup]:
    parts = []
    for value in up.ticks():
        y = up(value)
        parts += [rule(LEFT, y, RIGHT, y), text(f"{value:g}", LEFT - 6, y + 4, anchor="end")]
    for value in across.ticks():
        x = across(value)
        parts += [rule(x, _TOP, x, _BOTTOM), text(f"{value:g}", x, _BOTTOM + 16)]
    even = up(1)
    line = element(
        "line", x1=LEFT, x2=RIGHT, y1=even, y2=even, stroke="currentColor", stroke_opacity="0.6"
    )
    parts.append(line)
    said = "writes of PSCR for each takeover of MESI"
    parts.append(text(said, (LEFT + RIGHT) / 2, _BOTTOM + 36))
    parts.append(text("PSCR better", LEFT + 4, even - 6, anchor="start"))
    parts.append(text("MESI better", LEFT + 4, even + 14, anchor="start"))
    parts.append(text("power of PSCR over that of MESI", LEFT, _TOP - 8, anchor="start"))
    return parts


def _limits(across: LogScale) -> list[Markup]:
    parts = []
    for block, anchor, gap in ((32, "end", -4.0), (128, "start", 4.0)):
        x = across(break_even(block))
        line = element(
            "line",
            x1=x,
            x2=x,
            y1=_TOP,
            y2=_BOTTOM,
            stroke="currentColor",
            stroke_dasharray="5 4",
            stroke_opacity="0.7",
        )
        said = f"{block} B: {break_even(block):g}"
        parts += [line, text(said, x + gap, _BOTTOM - 6, anchor=anchor)]
    return parts


def _line(places: Sequence[Place], across: LogScale, up: LinearScale) -> Markup:
    points: list[tuple[float, float] | None] = [
        (across(place.writes), up(place.ratio)) for place in places
    ]
    return element(
        "path", d=path_of(points), fill="none", stroke=_COLOURS[SESSIONS], stroke_opacity="0.6"
    )


def _mark(place: Place, x: float, y: float) -> Markup:
    said = (
        f"{place.name} ({place.group}): {place.ratio:.3f} with {place.writes:.1f} writes for each "
        f"takeover, {place.shared_writes:.2f} for 100 references"
    )
    hue = _COLOURS[place.group]
    ring = place.name.endswith(EXTENDED_NAME)
    return element(
        "circle",
        element("title", said),
        cx=x,
        cy=y,
        r=_LEAST_RADIUS + _RADIUS * math.sqrt(place.shared_writes),
        fill="none" if ring else hue,
        fill_opacity=None if ring else "0.75",
        stroke=hue,
        stroke_width=1.6,
    )


def _names(places: Sequence[Place], across: LogScale, up: LinearScale) -> list[Markup]:
    """The names of a group's workloads, in turn above and below, so that near ones stay apart."""
    named = [place for place in places if not place.name.endswith(EXTENDED_NAME)]
    named.sort(key=lambda place: place.writes)
    return [
        text(
            place.name.removesuffix("-server"),
            across(place.writes),
            up(place.ratio) + (22 if number % 2 else -13),
            size=10,
        )
        for number, place in enumerate(named)
    ]


def _legend(found: Sequence[Place]) -> list[Markup]:
    parts = []
    x = float(LEFT)
    for group in unique(place.group for place in found):
        parts.append(element("circle", cx=x + 6, cy=22, r=5, fill=_COLOURS[group]))
        parts.append(text(group, x + 16, 26, anchor="start"))
        x += 34 + 6.2 * len(group)
    sizes = (0.5, 2.0)
    x = float(LEFT)
    for size in sizes:
        radius = _LEAST_RADIUS + _RADIUS * math.sqrt(size)
        parts.append(
            element("circle", cx=x + 8, cy=46, r=radius, fill="none", stroke="currentColor")
        )
        parts.append(text(f"{size:g} writes for 100 references", x + 24, 50, anchor="start"))
        x += 200
    return parts


def _svg(parts: Sequence[Markup]) -> Markup:
    height = _BOTTOM + 50
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_label=TITLE,
        font_family="system-ui, 'DejaVu Sans', sans-serif",
        font_size=11,
        fill="currentColor",
    )

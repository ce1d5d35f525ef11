"""Upright bars in groups, each of several parts on top of each other.

Parts of the kernel are filled, those of programs hatched; the tones are dark, middle and light, so
that they differ without colours.
"""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from homenode.options.specs import plain_number, unique
from homenode.report.svg import element
from homenode_studies.studies.canvas import (
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    LinearScale,
    rule,
    svg,
    text,
)
from homenode_studies.studies.tables import Figure

_TONES = {
    "true sharing": "#12486e",
    "false sharing": "#e07b39",
    "passive sharing": "#86cbb4",
    "other misses": "#8d99a6",
    "invalidation misses": "#a8326e",
    "MESI": "#12486e",
    "AMSD": "#e07b39",
    "PSCR": "#86cbb4",
    "no proxies": "#b4bcc6",
    "basic proxies": "#e07b39",
    "reactive proxies": "#56a3d9",
}
_SPARE = ("#12486e", "#e07b39", "#86cbb4", "#8d99a6", "#a8326e", "#e3c04a")
_USER = ", user"
_BETWEEN = 0.35
"""Space between groups, in bars."""
_SMALL, _CAPITAL, _LETTER = 9.5, 7.2, 5.2
"""Size of the names of bars, and the width of their letters."""


def draw(figure: Figure) -> Markup:
    """The figure as SVG."""
    drawn = [row for row in figure.rows if not row.get("printed")]
    names = unique(row["series"] for row in drawn)
    fills = {name: _fill(figure, name, i) for i, name in enumerate(names)}
    groups = {
        group: unique(row["bar"] for row in drawn if row["x"] == group)
        for group in unique(row["x"] for row in drawn)
    }
    legend, top = _legend(names, fills)
    bottom = top + HEIGHT
    up = LinearScale(0, _highest(figure), bottom, top)
    parts = [_patterns(figure, names), legend, *_axis(figure, up, top)]
    slots = sum(len(bars) + _BETWEEN for bars in groups.values())
    width = (RIGHT - LEFT - 8) / slots
    longest = max((_length(str(bar)) for bars in groups.values() for bar in bars), default=0.0)
    upright = longest > width
    below = 22 + longest if upright else 28
    x = LEFT + 4 + width * _BETWEEN / 2
    for group, bars in groups.items():
        for number, bar in enumerate(bars):
            at = x + number * width
            parts += _bar(figure, (group, bar), (at, width), (up, fills))
            parts.append(_under(str(bar), (at + width / 2, bottom), upright))
        parts.append(text(str(group), x + len(bars) * width / 2, bottom + below))
        x += (len(bars) + _BETWEEN) * width
    parts.append(text(figure.across.label, (LEFT + RIGHT) / 2, bottom + below + 18))
    return svg(figure, parts, bottom + below + 26)


def _length(name: str) -> float:
    return sum(_CAPITAL if letter.isupper() else _LETTER for letter in name)


def _under(name: str, place: tuple[float, float], upright: bool) -> Markup:
    """The name of a bar below it, rotated if bars are narrow."""
    x, y = place
    if not upright:
        return text(name, x, y + 13, size=_SMALL)
    turned = f"rotate(-90 {x + 3:.1f} {y + 5:.1f})"
    look: dict[str, Any] = {"font_size": _SMALL, "text_anchor": "end", "transform": turned}
    return element("text", name, x=x + 3, y=y + 5, **look)


def _bar(
    figure: Figure,
    where: tuple[str, str],
    place: tuple[float, float],
    looks: tuple[LinearScale, dict[str, str]],
) -> list[Markup]:
    (x, width), (up, fills) = place, looks
    parts, height = [], 0.0
    rows = [row for row in figure.rows if (row["x"], row["bar"]) == where]
    for row in rows:
        value = float(row["y"] or 0)
        said = element("title", f"{where[0]} {where[1]}, {row['series']}: {plain_number(value)}")
        if row.get("printed"):
            middle = x + width / 2
            ring = element(
                "circle", said, cx=middle, cy=up(value), r=4.5, fill="none", **_outline(1.6)
            )
            parts.append(ring)
        elif value > 0:
            parts.append(
                element(
                    "rect",
                    said,
                    x=x + 0.08 * width,
                    y=up(height + value),
                    width=0.84 * width,
                    height=up(height) - up(height + value),
                    fill=fills[row["series"]],
                    **_outline(0.4),
                )
            )
            height += value
    return parts


def _highest(figure: Figure) -> float:
    totals: dict[tuple[str, str, bool], float] = {}
    for row in figure.rows:
        key = (row["x"], row["bar"], bool(row.get("printed")))
        totals[key] = totals.get(key, 0.0) + float(row["y"] or 0)
    return 1.05 * max(totals.values(), default=0.0) or 1.0


def _axis(figure: Figure, up: LinearScale, top: float) -> list[Markup]:
    parts = [text(figure.up.label, 2, top - 10, anchor="start")]
    for value in up.ticks():
        y = up(value)
        parts += [rule(LEFT, y, RIGHT, y), text(plain_number(value), LEFT - 6, y + 4, anchor="end")]
    return parts


def _legend(names: Sequence[str], fills: dict[str, str]) -> tuple[Markup, float]:
    """The legend above the figure, and the position at which the figure begins below it."""
    parts, x, y = [], 4.0, 12.0
    for name in names:
        width = 34 + 6.4 * len(name)
        if x + width > WIDTH:
            x, y = 4.0, y + 17
        box = {"x": x, "y": y - 9, "width": 14.0, "height": 10.0}
        parts.append(element("rect", fill=fills[name], **box, **_outline(0.4)))
        parts.append(text(name, x + 19, y, anchor="start"))
        x += width
    return Markup("").join(parts), y + TOP


def _outline(width: float) -> dict[str, Any]:
    """In the colour of the surrounding text."""
    return {"stroke": "currentColor", "stroke_width": width}


def _tone(name: str, index: int) -> str:
    base = name.partition(",")[0]
    return _TONES.get(base, _SPARE[index % len(_SPARE)])


def _fill(figure: Figure, name: str, index: int) -> str:
    if name.endswith(_USER):
        return f"url(#{figure.name}-{index})"
    return _tone(name, index)


def _patterns(figure: Figure, names: Sequence[str]) -> Markup:
    """Hatching for the parts of programs; pattern names are unique among the figures of a page."""
    found = []
    for index, name in enumerate(names):
        if name.endswith(_USER):
            tone = _tone(name, index)
            lines = element("path", d="M-1 1l2 -2M0 6l6 -6M5 7l2 -2", stroke=tone, stroke_width=1.9)
            ground = element("rect", width=6, height=6, fill=tone, fill_opacity="0.3")
            shape: dict[str, Any] = {"width": 6, "height": 6, "patternUnits": "userSpaceOnUse"}
            found.append(element("pattern", ground, lines, id=f"{figure.name}-{index}", **shape))
    return element("defs", *found) if found else Markup("")

"""Draws a study's figures as self-contained SVG: colours and fonts are in the elements.

Text and axes have the colour of the surrounding text, so that a figure reads on light and dark.
"""

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup

from homenode.options.specs import plain_number, unique
from homenode.report.sentences import short_size
from homenode.report.svg import LogScale, element, path_of
from homenode.results.palette import COST_COLOURS, colour_of, dashes_of
from homenode_studies.studies import stacks
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
from homenode_studies.studies.tables import Axis, Figure, Row

_BAR, _GAP, _NAMES = 11, 9, 84
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56a3d9", "#8b6fc0", "#7a5c45")
_MACHINES = {
    "cc+": "#0072b2",
    "cc": "#56a3d9",
    "numa": "#009e73",
    "dsm+": "#b8860b",
    "dsm": "#d55e00",
}
_PARTS = {"local": "local", "remote": "remote", "global": "global", "moves": "global_moves"}
_POLICIES = frozenset({"optimal", "ace", "delay", "platinum", "migrate"})
_COHERENCE = frozenset({"upt", "inv", "inv.freez", "upt.del", "inv.del", "inv.freez.del"})
_BOUNDS = frozenset({"all-local", "all-remote"})
_DASHES = (None, "6 3", "2 3", "8 3 2 3")


Scale = LogScale | LinearScale


def draw(figure: Figure) -> Markup:
    """The figure as SVG."""
    return _DRAWERS[figure.kind](figure)


def colour(name: str, index: int) -> str:
    """The colour of a series: that of its machine or policy, or the next of the palette."""
    if name in _PARTS:
        return COST_COLOURS[_PARTS[name]]
    if name in _MACHINES:
        return _MACHINES[name]
    if name in _POLICIES | _COHERENCE | _BOUNDS:
        return colour_of(name)
    return _COLOURS[index % len(_COLOURS)]


def _dash(name: str, index: int, *, dashed: bool = False) -> str | None:
    if dashed:
        return _DASHES[index % len(_DASHES)]
    if name in {"cc", "dsm"}:
        # Dashed: coincides with the "+" machine where remote reference gains nothing.
        return "5 4"
    if name in _BOUNDS:
        return "2 3"
    if name in _COHERENCE:
        # A policy with and without a counter has one hue in two tones.
        return "6 3" if name.endswith(".del") else None
    if name == "optimal":
        return " ".join(str(length) for length in dashes_of(name))
    return _DASHES[index // len(_COLOURS) % len(_DASHES)]


def _lines(figure: Figure) -> Markup:
    names = unique(row["series"] for row in figure.rows)
    legend, top = _legend(names, ["line"] * len(names), dashed=figure.dashed)
    bottom = top + HEIGHT
    across, up = _scales(figure, figure.rows, top)
    parts = [legend, _grid(figure, across, up, top)]
    parts += [_line(figure, name, i, across, up) for i, name in enumerate(names)]
    return svg(figure, parts, bottom + 44)


def _line(figure: Figure, name: str, index: int, across: Scale, up: Scale) -> Markup:
    rows = [row for row in figure.rows if row["series"] == name and not row.get("printed")]
    shown = [row if _can_show(row, figure) else None for row in rows]
    points = [None if row is None else (across(row["x"]), up(row["y"])) for row in shown]
    hue = colour(name, index)
    path = element(
        "path",
        d=path_of(points),
        fill="none",
        stroke=hue,
        stroke_width=1.8,
        stroke_linejoin="round",
        stroke_dasharray=_dash(name, index, dashed=figure.dashed),
    )
    dots = [
        element("circle", _title(name, row, figure), cx=at[0], cy=at[1], r=2.6, fill=hue)
        for row, at in zip(shown, points, strict=True)
        if row is not None and at is not None and len(rows) <= 24
    ]
    return element("g", path, *dots, *_rings(figure, name, hue, (across, up)))


def _rings(figure: Figure, name: str, hue: str, scales: tuple[Scale, Scale]) -> list[Markup]:
    """The points of a series that are in the publication, as rings."""
    across, up = scales
    return [
        element(
            "circle",
            _title(f"{name} as printed", row, figure),
            cx=across(row["x"]),
            cy=up(row["y"]),
            r=4,
            fill="none",
            stroke=hue,
            stroke_width=1.5,
        )
        for row in figure.rows
        if row["series"] == name and row.get("printed") and _can_show(row, figure)
    ]


def _can_show(row: Row, figure: Figure) -> bool:
    value = row["y"]
    return value is not None and math.isfinite(value) and (value > 0 or not figure.up.log)


def _areas(figure: Figure) -> Markup:
    lines = [n for n in unique(r["series"] for r in figure.rows) if n not in figure.areas]
    names = [*figure.areas, *lines]
    legend, top = _legend(names, ["area"] * len(figure.areas) + ["line"] * len(lines))
    bottom = top + HEIGHT
    stacked, levels = _stacked(figure)
    across, up = _scales(figure, [*stacked, *figure.rows], top)
    parts = [legend, _grid(figure, across, up, top)]
    for index, name in enumerate(figure.areas):
        high, low = levels[index + 1], levels[index]
        outline = [(across(x), up(max(y, up.low))) for x, y in high]
        outline += [(across(x), up(max(y, up.low))) for x, y in reversed(low)]
        fill = colour(name, index)
        parts.append(element("path", d=path_of([*outline]) + "Z", fill=fill, fill_opacity="0.55"))
    for index, name in enumerate(lines):
        parts.append(_line(figure, name, index, across, up))
    return svg(figure, parts, bottom + 44)


def _stacked(figure: Figure) -> tuple[list[Row], list[list[tuple[float, float]]]]:
    """The outlines of the areas from bottom to top, and their corners as rows."""
    found = {(row["series"], row["x"]): row["y"] for row in figure.rows}
    places = unique(row["x"] for row in figure.rows if row["series"] == figure.areas[0])
    floor = figure.up.limit or 0.0
    levels = [[(x, floor) for x in places]]
    heights = dict.fromkeys(places, 0.0)
    for name in figure.areas:
        for x in places:
            heights[x] += found.get((name, x)) or 0.0
        levels.append([(x, heights[x]) for x in places])
    corners = [{"x": x, "y": y} for level in levels for x, y in level if y >= floor]
    return corners, levels


def _scales(figure: Figure, rows: Sequence[Row], top: float) -> tuple[Scale, Scale]:
    xs = [row["x"] for row in rows if row["x"] is not None]
    ys = [row["y"] for row in rows if _can_show(row, figure)]
    ys = [y for y in ys if figure.kind != "areas" or y >= (figure.up.limit or 0)]
    low, high = (min(ys), max(ys)) if ys else (1.0, 2.0)
    if figure.up.log:
        low, high = low / 1.05, max(high * 1.05, low * 1.2)
    else:
        low = figure.up.limit if figure.up.limit is not None else min(0.0, low)
        high = high + 0.04 * (high - low) if high > low else low + 1
    bottom = top + HEIGHT
    return (
        _scale(figure.across, min(xs), max(xs), (LEFT + 12, RIGHT - 12)),
        _scale(figure.up, low, high, (bottom, top)),
    )


def _scale(axis: Axis, low: float, high: float, ends: tuple[float, float]) -> Scale:
    if axis.log:
        return LogScale(low, high, *ends)
    return LinearScale(low, high, *ends)


def _grid(figure: Figure, across: Scale, up: Scale, top: float) -> Markup:
    bottom = top + HEIGHT
    parts = []
    for value in up.ticks():
        y = up(value)
        parts.append(rule(LEFT, y, RIGHT, y))
        parts.append(text(plain_number(value), LEFT - 6, y + 4, anchor="end"))
    sizes = figure.across.sizes
    places = unique(row["x"] for row in figure.rows) if sizes else across.ticks()
    for value in places:
        x = across(value)
        parts.append(rule(x, bottom, x, bottom + 4))
        parts.append(text(_tick(value, sizes), x, bottom + 17))
    parts.append(text(figure.across.label, (LEFT + RIGHT) / 2, bottom + 36))
    parts.append(text(figure.up.label, 2, top - 10, anchor="start"))
    return Markup("").join(parts)


def _tick(value: float, sizes: bool) -> str:
    return short_size(int(value)) if sizes else plain_number(value)


def _bars(figure: Figure) -> Markup:
    names = unique(row["series"] for row in figure.rows)
    groups = unique(row["x"] for row in figure.rows)
    legend, top = _legend(names, ["area"] * len(names))
    found = {(row["series"], row["x"]): row["y"] for row in figure.rows}
    finite = [v for v in found.values() if v is not None and math.isfinite(v)]
    limit = min(figure.up.limit or math.inf, max(finite, default=1.0))
    high = len(names) * _BAR + _GAP
    bottom = top + len(groups) * high
    scale = LinearScale(0, limit, LEFT + _NAMES - 40, RIGHT - 44)
    parts = [legend]
    for value in scale.ticks():
        parts.append(rule(scale(value), top - 6, scale(value), bottom))
        parts.append(text(plain_number(value), scale(value), bottom + 15))
    parts.append(text(figure.up.label, (LEFT + RIGHT) / 2, bottom + 34))
    for g, group in enumerate(groups):
        middle = top + g * high + (high - _GAP) / 2
        parts.append(text(str(group), scale(0) - 6, middle + 4, anchor="end"))
        for s, name in enumerate(names):
            bar = found.get((name, group))
            y = top + g * high + s * _BAR
            parts.append(_bar(bar, y, scale, (f"{group}, {name}", colour(name, s))))
    return svg(figure, parts, bottom + 42)


def _bar(value: float | None, y: float, scale: LinearScale, looks: tuple[str, str]) -> Markup:
    if value is None:
        return Markup("")
    cut = value > scale.high
    end = scale(min(value, scale.high))
    said = element("title", f"{looks[0]}: {plain_number(value)}")
    start = scale(0)
    bar = element(
        "rect", said, x=start, y=y, width=max(end - start, 0.5), height=_BAR - 2, fill=looks[1]
    )
    label = plain_number(value) + (" →" if cut else "")
    return bar + text(label, end + 4, y + 8, anchor="start", size=9)


def _marks(figure: Figure) -> Markup:
    names = unique(row["series"] for row in figure.rows)
    groups = unique(row["group"] for row in figure.rows)
    legend, top = _legend(names, ["area"] * len(names))
    values = [row["x"] for row in figure.rows]
    span = max(values) - min(values) or 1.0
    low, high = min(values) - 0.06 * span, max(values) + 0.06 * span
    left = LEFT + 40
    scale = LinearScale(low, high, left, RIGHT - 10)
    bottom = top + 34 * len(groups)
    parts = [legend]
    for value in scale.ticks():
        parts.append(rule(scale(value), top - 6, scale(value), bottom))
        parts.append(text(plain_number(value), scale(value), bottom + 15))
    parts.append(text(figure.across.label, (LEFT + RIGHT) / 2, bottom + 34))
    for g, group in enumerate(groups):
        y = top + 34 * g + 16
        parts.append(text(str(group), left - 8, y + 4, anchor="end"))
        parts.append(rule(left, y, RIGHT - 10, y))
        for row in figure.rows:
            if row["group"] == group:
                index = names.index(row["series"])
                parts.append(_mark(row, scale(row["x"]), y, colour(row["series"], index)))
    return svg(figure, parts, bottom + 42)


def _mark(row: Row, x: float, y: float, hue: str) -> Markup:
    said = element("title", f"{row['group']}, {row['series']}: {row['x']:.6g}")
    if row.get("tick"):
        return element("rect", said, x=x - 1.5, y=y - 10, width=3, height=20, fill=hue)
    cross = f"M{x - 4:.1f} {y - 4}l8 8M{x - 4:.1f} {y + 4}l8 -8"
    return element("path", said, d=cross, stroke=hue, stroke_width=1.6, fill="none")


def _legend(
    names: Sequence[str], shapes: Sequence[str], *, dashed: bool = False
) -> tuple[Markup, float]:
    """The legend above the figure, and the position at which the figure begins below it."""
    parts, x, y = [], 4.0, 12.0
    for index, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        width = 30 + 6.6 * len(name)
        if x + width > WIDTH:
            x, y = 4.0, y + 17
        own = index if shape == shapes[0] else index - shapes.index(shape)
        hue = colour(name, own)
        if shape == "area":
            parts.append(element("rect", x=x, y=y - 8, width=14, height=9, fill=hue))
        else:
            parts.append(
                element(
                    "path",
                    d=path_of([(x, y - 4), (x + (26 if dashed else 16), y - 4)]),
                    stroke=hue,
                    stroke_width=2.2,
                    fill="none",
                    stroke_dasharray=_dash(name, own, dashed=dashed),
                )
            )
        parts.append(text(name, x + (30 if dashed else 20), y, anchor="start"))
        x += width + (10 if dashed else 0)
    return Markup("").join(parts), y + TOP


def _title(name: str, row: Row, figure: Figure) -> Markup:
    at = _tick(row["x"], figure.across.sizes)
    return element("title", f"{name} at {at}: {plain_number(row['y'])}")


_DRAWERS: dict[str, Callable[[Figure], Markup]] = {
    "lines": _lines,
    "bars": _bars,
    "areas": _areas,
    "marks": _marks,
    "stacks": stacks.draw,
}

"""Draws who references which stretch of memory when: memory across, Time down, colours for whom."""

import colorsys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from homenode.options.specs import format_size, plain_number
from homenode.report.svg import brackets, element
from homenode.results.palette import PROCESSOR_COLOURS

_LEFT, _TOP, _WIDTH, _HEIGHT = 74.0, 34.0, 720.0, 240.0
_LETTER = 6.2
_LINE = 18.0
_READ, _WRITTEN, _ALONE = 1, 2, 3
_SEVERAL = {
    _READ: ("#b9bec4", "several, all reading"),
    _WRITTEN: ("#20242a", "several, some writing"),
}
_PALE = 0.55
_EACH_NAMED = 16
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#333}.y{text-anchor:end}.x{text-anchor:middle}"
    ".title{font-weight:600}.frame{fill:none;stroke:#999}.bracket{fill:none;stroke:#666}"
    ".init{stroke:#e00;stroke-dasharray:5 3}.cells{fill:none;shape-rendering:crispEdges}"
)


def draw(picture: dict[str, Any], title: str) -> str:
    """What ``_core.picture`` returns, as an SVG file of its own."""
    cells, stretches = picture["slices"], picture["map"]["rows"]
    count = len(stretches[0]["reads"]) if stretches else 0
    foot = _TOP + _HEIGHT + 36
    parts = [
        element("style", _STYLE),
        element("rect", width="100%", height="100%", fill="#fff"),
        element("text", title, class_="title", x=_LEFT, y=16),
        _cells(cells, count),
        element("rect", class_="frame", x=_LEFT, y=_TOP, width=_WIDTH, height=_HEIGHT),
        _times(picture),
        brackets(
            [row["object"] for row in stretches],
            (_LEFT, _TOP + _HEIGHT + 4),
            _WIDTH / max(1, len(stretches)),
            text="x",
        ),
        _legend(count, foot + 12),
        element("text", _scale(picture), x=_LEFT, y=foot + 12 + 2 * _LINE),
    ]
    size = f"0 0 {_LEFT + _WIDTH + 16:.0f} {foot + 2 * _LINE + 22:.0f}"
    label = f"{title}: memory across, Time down, colours for the processors that reference it"
    return str(
        element(
            "svg",
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=size,
            role="img",
            aria_label=label,
        )
    )


def colour_of_processor(number: int, count: int) -> str:
    """Colours that differ clearly for a few processors; for more, neighbours have similar ones.

    >>> colour_of_processor(0, 8), colour_of_processor(0, 64)
    ('#0072b2', '#b83e2e')
    """
    if count <= len(PROCESSOR_COLOURS):
        return PROCESSOR_COLOURS[number]
    return _hex(colorsys.hls_to_rgb(0.02 + 0.9 * number / count, 0.45, 0.6))


def _hex(parts: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _pale(colour: str) -> str:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part + _PALE * (1 - part) for part in parts)
    return _hex((red, green, blue))


def _colour(code: int, count: int) -> str:
    if code < _ALONE:
        return _SEVERAL[code][0]
    number, written = divmod(code - _ALONE, 2)
    full = colour_of_processor(number, count)
    return full if written else _pale(full)


def _cells(cells: Sequence[Sequence[int]], count: int) -> Markup:
    """One path a colour: runs of equal cells, along Time or along memory, whichever are fewer."""
    if not cells or not cells[0]:
        return Markup("")
    down = [list(column) for column in zip(*cells, strict=True)]
    across_runs, down_runs = list(_runs(cells)), list(_runs(down))
    vertical = len(down_runs) < len(across_runs)
    paths: dict[int, list[tuple[int, int, int]]] = {}
    for code, line, start, length in down_runs if vertical else across_runs:
        at = (line, start) if vertical else (start, line)
        paths.setdefault(code, []).append((*at, length))
    wide, high = _WIDTH / len(cells[0]), _HEIGHT / len(cells)
    middle = "translate(.5 0)" if vertical else "translate(0 .5)"
    drawn = [
        element("path", d=_path(paths[code], "v" if vertical else "h"), stroke=_colour(code, count))
        for code in sorted(paths)
    ]
    place = f"translate({_LEFT:g} {_TOP:g}) scale({wide:.4f} {high:.4f}) {middle}"
    return element("g", *drawn, class_="cells", transform=place)


def _runs(lines: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int, int]]:
    """Cells that are not empty, in runs: code, line, first cell, cells."""
    for number, line in enumerate(lines):
        start = 0
        for code, group in groupby(line):
            length = len(list(group))
            if code:
                yield code, number, start, length
            start += length


def _path(runs: Sequence[tuple[int, int, int]], direction: str) -> str:
    """The runs of one colour, each move written the shorter way."""
    words = []
    pen = (0, 0)
    for x, y, length in runs:
        steps = (x - pen[0], y - pen[1])
        moved = f"m{steps[0]}{'' if steps[1] < 0 else ' '}{steps[1]}"
        words.append(min(f"M{x} {y}", moved, key=len) + f"{direction}{length}")
        pen = (x, y + length) if direction == "v" else (x + length, y)
    return "".join(words)


def _times(picture: dict[str, Any]) -> Markup:
    """References down the left side, and where initialisation ends."""
    total, parts = picture["references"], []
    for quarter in range(5):
        y = _TOP + _HEIGHT * quarter / 4
        text = plain_number(total * quarter // 4)
        parts.append(element("text", text, class_="y", x=_LEFT - 6, y=y + 4))
    done = picture["init_done"]
    if done is not None and 0 < done < total:
        y = _TOP + _HEIGHT * done / total
        line = element("line", class_="init", x1=_LEFT, x2=_LEFT + _WIDTH, y1=y, y2=y)
        parts.append(line)
    return Markup("").join(parts)


def _legend(count: int, y: float) -> Markup:
    """The colours of the processors; of many processors, those of some."""
    shown = range(count) if count <= _EACH_NAMED else range(0, count, -(-count // 8))
    entries = [(colour_of_processor(p, count), str(p)) for p in shown]
    entries += [_SEVERAL[_READ], _SEVERAL[_WRITTEN]]
    parts = [element("text", "processor", class_="y", x=_LEFT - 6, y=y)]
    x = _LEFT
    for colour, text in entries:
        parts.append(element("rect", x=x, y=y - 10, width=12, height=12, fill=colour))
        parts.append(element("text", text, x=x + 16, y=y))
        x += 28 + _LETTER * len(text)
    text = "A processor alone in a cell: its colour if it writes, the same pale if it only reads."
    parts.append(element("text", text, x=_LEFT, y=y + _LINE))
    return Markup("").join(parts)


def _scale(picture: dict[str, Any]) -> str:
    stretch, slices = format_size(picture["map"]["row_bytes"]), len(picture["slices"])
    text = (
        f"A cell is {stretch} by {plain_number(max(1, picture['references'] // slices))} references"
    )
    if picture["init_done"]:
        text += "; dashed: the end of initialisation"
    return f"{text}. Memory without references is left out."

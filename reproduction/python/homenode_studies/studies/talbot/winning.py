"""Where reactive proxies with first touch cease to win, as one picture."""

from collections.abc import Sequence

from markupsafe import Markup

from homenode.options.specs import unique
from homenode.report.svg import element
from homenode_studies.studies.claims import TIE
from homenode_studies.studies.tables import Picture
from homenode_studies.studies.talbot.beyond import Points, against_both, situations

TITLE = "Where reactive proxies with first touch cease to win"
_LEFT, _CELL, _HIGH, _TOP = 128, 66, 26, 112
# The horizontal extent of a letter of a slanted heading.
_LETTER = 5.4
_WINS, _TIES, _LOSES = "#56b4e9", "#f0f0e8", "#e69f00"
_KEY = (
    (_WINS, "faster than either placement without proxies"),
    (_TIES, "within 2 % of the better of them"),
    (_LOSES, "slower"),
)


def pictures(points: Points) -> list[Picture]:
    """The picture; None if nothing beyond the paper was simulated."""
    if not points.programs():
        return []
    note = (
        "Time with reactive proxies and first touch over that of the better placement without "
        "proxies in the same situation."
    )
    return [Picture("winning", TITLE, str(drawn(ratios(points))), note)]


def ratios(points: Points) -> dict[str, dict[str, float]]:
    """The time over that of the better placement without proxies, by program and situation."""
    return {
        program: {
            name: max(against_both(points, program, setting).values())
            for name, setting in situations(points, program).items()
        }
        for program in points.programs()
    }


def fill(ratio: float) -> str:
    """The colour of a cell.

    >>> fill(0.9) == fill(1.1), fill(0.99) == fill(1.01)
    (False, True)
    """
    if ratio < 1 - TIE:
        return _WINS
    return _LOSES if ratio > 1 + TIE else _TIES


def drawn(found: dict[str, dict[str, float]]) -> Markup:
    """The cells: programs as rows, situations as columns."""
    names = sorted(unique(name for row in found.values() for name in row), key=_nodes)
    heads = [_CELL * (at + 0.5) + _LETTER * len(name) for at, name in enumerate(names)]
    width = _LEFT + max([_CELL * len(names), *heads]) + 8
    height = _TOP + _HIGH * len(found) + 22 * len(_KEY) + 10
    paper = element("rect", x=0, y=0, width=width, height=height, fill="#ffffff")
    parts = [paper, *_heads(names)]
    for number, (program, row) in enumerate(found.items()):
        y = _TOP + number * _HIGH
        parts.append(_text(program, _LEFT - 8, y + 17, anchor="end"))
        parts += [
            _cell(program, name, row[name], (_LEFT + _CELL * at, y))
            for at, name in enumerate(names)
            if name in row
        ]
    parts += _legend(_TOP + _HIGH * len(found) + 12)
    return _svg(parts, width, height)


def _nodes(situation: str) -> int:
    """The sort key of situations: numbers of nodes come last and ascend.

    >>> sorted(["256 nodes", "queues of 2", "16 nodes", "no allocation"], key=_nodes)
    ['queues of 2', 'no allocation', '16 nodes', '256 nodes']
    """
    count, _, what = situation.partition(" ")
    return int(count) if what == "nodes" else 0


def _heads(names: Sequence[str]) -> list[Markup]:
    """The headings of situations, slanted."""
    heads = []
    for at, name in enumerate(names):
        x, y = _LEFT + _CELL * (at + 0.5), _TOP - 8
        turned = f"rotate(-35 {x:.1f} {y})"
        heads.append(element("text", name, x=x, y=y, transform=turned))
    return heads


def _cell(program: str, name: str, ratio: float, place: tuple[float, float]) -> Markup:
    x, y = place
    said = element("title", f"{program}, {name}: {ratio:.3f} of the better placement's time")
    box = {"x": x, "y": y, "width": _CELL - 2.0, "height": _HIGH - 2.0}
    shape = element("rect", said, fill=fill(ratio), stroke="#888888", **box)
    return shape + _text(f"{100 * ratio:.1f} %", x + _CELL / 2 - 1, y + 16)


def _legend(top: float) -> list[Markup]:
    parts = []
    for number, (colour, said) in enumerate(_KEY):
        y = top + 22 * number
        box = {"x": _LEFT, "y": y, "width": 18.0, "height": 14.0}
        parts.append(element("rect", fill=colour, stroke="#888888", **box))
        parts.append(_text(said, _LEFT + 26, y + 11, anchor="start"))
    return parts


def _text(said: str, x: float, y: float, *, anchor: str = "middle") -> Markup:
    return element("text", said, x=x, y=y, text_anchor=anchor)


def _svg(parts: Sequence[Markup], width: float, height: float) -> Markup:
    box = {"viewBox": f"0 0 {width:.0f} {height:.0f}"}
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        **box,
        role="img",
        aria_label=TITLE,
        font_family="system-ui, 'DejaVu Sans', sans-serif",
        font_size=11,
        fill="#202020",
    )

"""Draws who uses which page: pages across, nodes down, darker where filled more, a dot at home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from homenode.options.specs import plain_number
from homenode.report.heatmap import LEVELS, level
from homenode.report.svg import brackets, element, row_numbers, squares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from homenode.engines.page_use import PageUse

_LEFT, _TOP, _WIDTH = 34.0, 2.0, 900.0
# Least widths that the names of objects need, and the legend of a file.
_NARROWEST, _FILE_NARROWEST = 260.0, 560.0
_COLUMNS = 150
_CELL_MAX = 24.0
_ROW_MIN, _ROW_MAX, _HEIGHT = 5.0, 20.0, 240.0
_NODES_MAX = 64
_LETTER = 6.2
OTHERS = "other data"

# Colours of an SVG file of its own: cells of the home itself, and of other nodes.
_NEAR, _FAR = (32, 110, 170), (208, 84, 0)
_DARKNESS = (0.18, 0.3, 0.45, 0.62, 0.8, 1.0)
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#333}.y{text-anchor:end}.x{text-anchor:middle}"
    ".title{font-weight:600}.frame{fill:none;stroke:#999}.bracket{fill:none;stroke:#666}"
    ".home-mark{fill:#111;stroke:#fff;stroke-width:.6}"
)


@dataclass(frozen=True)
class PageColumns:
    """Pages side by side, those of one object together.

    Attributes:
        names: the object of each column.
        of_page: the column of each page.
        per_column: most pages of a column.
    """

    names: list[str]
    of_page: NDArray[np.int64]
    per_column: int


def arrange(use: PageUse, most: int = _COLUMNS) -> PageColumns:
    """Gives each page a column; where there are too many, pages of one object share columns.

    Args:
        use: who used which page.
        most: columns at most. Objects that are too many for it, those with fewest fills, are one.
    """
    groups, names = _groups(use, most)
    sizes = np.bincount(groups, minlength=len(names))
    per_column = 1
    while int(np.sum(-(-sizes // per_column))) > most:
        per_column += 1
    starts = np.concatenate([[0], np.cumsum(-(-sizes // per_column))[:-1]])
    order = np.argsort(groups, kind="stable")
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    of_page = np.empty(len(groups), np.int64)
    within = np.arange(len(groups)) - firsts[groups[order]]
    of_page[order] = starts[groups[order]] + within // per_column
    columns = -(-sizes // per_column)
    shown = [name for name, count in zip(names, columns, strict=True) for _ in range(int(count))]
    return PageColumns(shown, of_page, per_column)


def _groups(use: PageUse, most: int) -> tuple[NDArray[np.int64], list[str]]:
    """By page the number of its group, and the groups' names in the order of their first pages."""
    pages = use.page_object.astype(np.int64)
    present = list(dict.fromkeys(pages.tolist()))
    fills = np.zeros(max(len(use.objects), 1), np.uint64)
    np.add.at(fills, use.served_object, use.served_fills)
    kept = max(1, most // 2)
    if len(present) > kept:
        costliest = set(sorted(present, key=lambda number: -int(fills[number]))[: kept - 1])
        present = [number for number in present if number in costliest]
    place = np.full(max(len(use.objects), 1), len(present), np.int64)
    place[present] = np.arange(len(present))
    names = [use.objects[number] for number in present]
    groups = place[pages]
    return groups, [*names, OTHERS] if (groups == len(present)).any() else names


def draw(use: PageUse) -> Markup:
    """The picture as SVG, with the classes of the report's style."""
    columns = arrange(use)
    across, down = _cell(use, columns)
    inside, width, height = _inside(use, columns)
    count = len(use.page_address)
    label = (
        f"Use of pages: {use.nodes} nodes by {count} pages of {len(set(columns.names))} data "
        "structures"
    )
    # A few pages are not enlarged, and many stay legible on a narrow screen.
    whole = _LEFT + max(width, _NARROWEST) + 4
    return element(
        "svg",
        inside,
        element("rect", class_="cell-cursor", x=0, y=0, width=across, height=down),
        viewBox=f"0 0 {whole:.0f} {_TOP + height + 30:.0f}",
        style=f"max-width:{1.15 * whole:.0f}px;min-width:min(48rem,{whole:.0f}px)",
        class_="pages",
        tabindex="0",
        role="img",
        aria_label=f"{label}. Arrow keys move between cells.",
        data_left=_LEFT,
        data_top=_TOP,
        data_cell=f"{across:.4f}",
        data_row=f"{down:.4f}",
    )


def draw_file(use: PageUse, title: str) -> str:
    """The picture as an SVG file of its own, with a title and a legend."""
    columns = arrange(use)
    inside, width, height = _inside(use, columns)
    shown = max(width, _FILE_NARROWEST)
    shades = "".join(
        f".{name}{number}{{fill:rgba({red},{green},{blue},{dark})}}"
        for name, (red, green, blue) in (("near", _NEAR), ("far", _FAR))
        for number, dark in enumerate(_DARKNESS, 1)
    )
    drawn = element(
        "svg",
        element("style", _STYLE + shades),
        element("rect", width="100%", height="100%", fill="#fff"),
        element("text", title, class_="title", x=_LEFT, y=16),
        element("g", inside, transform="translate(0 26)"),
        _legend(columns, height + 72),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_LEFT + shown + 16:.0f} {height + 106:.0f}",
        role="img",
        aria_label=f"{title}: pages across, nodes down, darker where a node fills more",
    )
    return str(drawn)


def explained(columns: PageColumns) -> str:
    """The meaning of a column and of its dot."""
    if columns.per_column == 1:
        return "A column is a page; the dot is at its home."
    return (
        f"A column is up to {plain_number(columns.per_column)} pages; the dot is at the home of at "
        "least half of them."
    )


def _cell(use: PageUse, columns: PageColumns) -> tuple[float, float]:
    """The width and height of a cell."""
    least = _ROW_MIN if use.nodes <= _NODES_MAX else _ROW_MIN * _NODES_MAX / use.nodes
    down = min(_ROW_MAX, max(least, _HEIGHT / max(1, use.nodes)))
    return min(_CELL_MAX, _WIDTH / max(1, len(columns.names))), down


def read_out(use: PageUse) -> dict[str, Any]:
    """The text of each cell.

    Returns:
        ``nodes`` and ``columns``, each with its ``object``, ``pages``, the ``address`` of the
        first, their ``homes``, and ``fills``, pairs of a node and its fills.
    """
    columns = arrange(use)
    shape = (len(columns.names), use.nodes)
    fills, homes = np.zeros(shape, np.uint64), np.zeros(shape, np.bool_)
    np.add.at(fills, (columns.of_page[use.use_page], use.use_node), use.use_fills)
    homes[columns.of_page, use.page_home] = True
    first = np.full(len(columns.names), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(first, columns.of_page, use.page_address)
    counts = np.bincount(columns.of_page, minlength=len(columns.names))
    found = []
    for at, name in enumerate(columns.names):
        nodes = np.flatnonzero(fills[at])
        pairs = zip(nodes.tolist(), fills[at][nodes].tolist(), strict=True)
        found.append(
            {
                "object": name,
                "pages": int(counts[at]),
                "address": f"{int(first[at]):#x}",
                "homes": np.flatnonzero(homes[at]).tolist(),
                "fills": list(pairs),
            }
        )
    return {"nodes": use.nodes, "columns": found}


def _inside(use: PageUse, columns: PageColumns) -> tuple[Markup, float, float]:
    """Cells, dots, numbers of nodes and names of objects; and the width and height of the cells."""
    count = len(columns.names)
    across, down = _cell(use, columns)
    corner = (_LEFT, _TOP)
    width, height = count * across, use.nodes * down
    parts = [
        squares(_cells(use, columns), corner, (across, down)),
        element("rect", class_="frame", x=_LEFT, y=_TOP, width=width, height=height),
        _dots(use, columns, (across, down)),
        row_numbers(use.nodes, corner, down),
        brackets(columns.names, (_LEFT, _TOP + height + 4), across, inset=0.5),
    ]
    return Markup("").join(parts), width, height


def _cells(use: PageUse, columns: PageColumns) -> Iterator[tuple[str, int, int]]:
    """Class, column and row of every cell with fills."""
    shape = (len(columns.names), use.nodes)
    of_use = columns.of_page[use.use_page]
    fills, near = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    np.add.at(fills, (of_use, use.use_node), use.use_fills)
    at_home = use.page_home[use.use_page] == use.use_node
    np.add.at(near, (of_use[at_home], use.use_node[at_home]), use.use_fills[at_home])
    largest = int(fills.max(initial=1))
    for column, node in np.argwhere(fills > 0).tolist():
        whole = int(fills[column, node])
        kind = "near" if 2 * int(near[column, node]) >= whole else "far"
        yield f"{kind}{level(whole, largest)}", column, node


def _dots(use: PageUse, columns: PageColumns, cell: tuple[float, float]) -> Markup:
    """A dot in every column at the home of at least half of its pages."""
    homes = np.zeros((len(columns.names), use.nodes), np.int64)
    np.add.at(homes, (columns.of_page, use.page_home), 1)
    across, down = cell
    radius = max(1.1, min(3.0, 0.32 * min(across, down)))
    parts = []
    for column, home in enumerate(homes.argmax(axis=1).tolist()):
        if 2 * homes[column, home] >= homes[column].sum():
            x, y = _LEFT + (column + 0.5) * across, _TOP + (home + 0.5) * down
            way = f"M{x - radius:.2f} {y:.2f}a{radius:.2f} {radius:.2f} 0 1 0 {2 * radius:.2f} 0"
            parts.append(f"{way}a{radius:.2f} {radius:.2f} 0 1 0 -{2 * radius:.2f} 0z")
    return element("path", class_="home-mark", d="".join(parts))


def _legend(columns: PageColumns, y: float) -> Markup:
    """The legend of colours and dots in a file."""
    parts = []
    x = _LEFT
    for name, text in (("near", "filled at home"), ("far", "filled at another node")):
        for number in range(1, LEVELS + 1):
            x += 12
            parts.append(
                element("rect", class_=f"{name}{number}", x=x, y=y - 10, width=12, height=12)
            )
        parts.append(element("text", text, x=x + 18, y=y))
        x += 36 + _LETTER * len(text)
    said = f"Darker: more fills. {explained(columns)}"
    return Markup("").join([*parts, element("text", said, x=_LEFT + 12, y=y + 20)])

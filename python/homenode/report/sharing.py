"""Pictures of false sharing: cost components and bounds against block size (figures 7.2 to 7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.options.specs import plain_number, unique
from homenode.report.page import environment
from homenode.report.svg import Frame, LogScale, element, path_of, series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from homenode.engines.sharing import SharingResult

_WIDTH, _HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 410, 12, 252
_DECADES_MAX = 5

# Name, colour, dashes; the colours are those of the other figures (Okabe and Ito 2008).
_COMPONENTS = (
    ("MCPR", "var(--ink)", None),
    ("overhead", "#0072b2", None),
    ("data transfer", "#d55e00", None),
)
_BOUNDS = (
    ("equation 7.14: at most", "#cc79a7", "5 3"),
    ("halving bound: at least", "#009e73", "5 3"),
    ("best intervals: at least", "#b8860b", "2 2"),
)
_BAND = "#0072b2"


def mean(cost: float, row: dict[str, Any]) -> str:
    """A part of the cost for each reference, for tables."""
    return plain_number(cost / row["accesses"]) if row["accesses"] else "-"


@dataclass(frozen=True)
class _Line:
    name: str
    colour: str
    dashes: str | None
    values: Sequence[float | None]


@dataclass(frozen=True)
class _LinearScale:
    """Shares from 0 to 1 on the vertical axis."""

    def __call__(self, value: float) -> float:
        return _BOTTOM - value * (_BOTTOM - _TOP)

    def ticks(self) -> list[float]:
        return [0.0, 0.25, 0.5, 0.75, 1.0]


def render(before: SharingResult, after: SharingResult | None, *, command: str) -> str:
    """The page as HTML, with no other files: a program, and the same after tuning."""
    results = [before] if after is None else [before, after]
    savings = [] if after is None else before.against(after)
    return (
        environment()
        .get_template("sharing.html.jinja")
        .render(
            sections=[_section(result) for result in results],
            savings=savings,
            legend=_legend(),
            command=command,
            version=_core.version(),
        )
    )


def _section(result: SharingResult) -> dict[str, Any]:
    sizes = sorted(result.sizes(), key=_size)
    return {
        "facts": result.facts,
        "panels": [
            {"machine": machine, "components": _components(rows), "rows": rows}
            for machine in unique(row["machine"] for row in result)
            for rows in [sorted((r for r in result if r["machine"] == machine), key=_size)]
        ],
        "bounds": _bounds(sizes),
        "sizes": sizes,
        "detail": result.detail,
    }


def _size(row: dict[str, Any]) -> int:
    return int(row["block_size"])


def _components(rows: list[dict[str, Any]]) -> Markup:
    """MCPR and its components, both axes logarithmic."""
    sizes = [row["block_size"] for row in rows]
    columns = zip(*map(_parts, rows), strict=True)
    drawn = [_Line(*style, values) for style, values in zip(_COMPONENTS, columns, strict=True)]
    positive = [v for line in drawn for v in line.values if v is not None and v > 0]
    high = max(positive, default=1.0) * 1.1
    low = max(min(positive, default=0.1) / 1.1, high / 10**_DECADES_MAX)
    up = LogScale(low, max(high, low * 2), _BOTTOM, _TOP)
    label = f"Components of the optimum's mean cost per reference on {rows[0]['machine']}"
    return _figure(sizes, up, drawn, label)


def _parts(row: dict[str, Any]) -> tuple[float | None, ...]:
    """MCPR and its components; a logarithmic axis has no zero."""
    parts, count = row["components"], row["accesses"]
    if parts is None or not count:
        return None, None, None
    overhead = parts["overhead_moves"] + parts["overhead_references"]
    return row["mcpr"], overhead / count or None, parts["data_transfer"] / count or None


def _bounds(rows: list[dict[str, Any]]) -> Markup:
    """The bracket of false sharing as a band, the bounds as lines."""
    sizes = [row["block_size"] for row in rows]
    names = ("bound_7_14", "halving_bound", "intervals")
    drawn = [
        _Line(*style, [row["shares"][name] for row in rows])
        for style, name in zip(_BOUNDS, names, strict=True)
    ]
    band = [tuple(row["shares"][f"false_sharing_{end}"] for end in ("low", "high")) for row in rows]
    return _figure(sizes, _LinearScale(), drawn, "Share of false sharing in all moves", band)


def _figure(
    sizes: Sequence[int],
    up: LogScale | _LinearScale,
    drawn: Sequence[_Line],
    label: str,
    band: Sequence[tuple[float, float]] | None = None,
) -> Markup:
    across = LogScale(sizes[0], sizes[-1], _LEFT + 10, _RIGHT - 10)
    ticks = ((up(value), _tick(value, up)) for value in up.ticks())
    frame = Frame(_LEFT, _RIGHT, _BOTTOM, _HEIGHT - 12, crowded=10)
    parts = [frame.axes(sizes, across, ticks)]
    if band is not None:
        parts.append(_band(sizes, band, across, up))
    for line in drawn:
        points = [
            None
            if value is None or (isinstance(up, LogScale) and value < up.low)
            else (across(size), up(value))
            for size, value in zip(sizes, line.values, strict=True)
        ]
        style = f"--series:{line.colour}"
        parts.append(series(points, line.dashes, class_="series", style=style))
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{label}, against block size; the table has the numbers.",
    )


def _band(
    sizes: Sequence[int],
    band: Sequence[tuple[float, float]],
    across: LogScale,
    up: LogScale | _LinearScale,
) -> Markup:
    upper = [(across(s), up(high)) for s, (_, high) in zip(sizes, band, strict=True)]
    lower = [(across(s), up(low)) for s, (low, _) in zip(sizes, band, strict=True)]
    outline = path_of([*upper, *reversed(lower)]) + "Z"
    area = element("path", d=outline, style=f"fill:{_BAND};fill-opacity:.25;stroke:none")
    return area + series([*upper], class_="series", style=f"--series:{_BAND}")


def _tick(value: float, up: LogScale | _LinearScale) -> str:
    return f"{100 * value:.0f} %" if isinstance(up, _LinearScale) else plain_number(value)


def _legend() -> dict[str, list[dict[str, str]]]:
    chips = [{"name": name, "colour": colour} for name, colour, _ in _COMPONENTS]
    bounds = [{"name": name, "colour": colour} for name, colour, _ in _BOUNDS]
    return {"components": chips, "bounds": [{"name": "bracket", "colour": _BAND}, *bounds]}

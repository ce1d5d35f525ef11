"""MCPR against block size, one panel a machine (thesis, figures 6.4 to 6.6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from homenode.options.specs import plain_number, unique
from homenode.report.svg import Frame, LogScale, element, path_of, series
from homenode.results.palette import colour_of, dashes_of

_WIDTH, _HEIGHT = 360, 264
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 350, 12, 222
# Values beyond this multiple of the optimum do not extend the axis: their lines leave it.
_FAR = 8


@dataclass(frozen=True)
class Panel:
    """The data of one panel.

    Attributes:
        machine: its name.
        sizes: block sizes in bytes, ascending.
        series: MCPR of each policy at each size; None where it is infinite.
    """

    machine: str
    sizes: Sequence[int]
    series: dict[str, list[float | None]]


def value_range(panels: Sequence[Panel]) -> tuple[float, float]:
    """The range of MCPR that all panels show, so that they can be compared.

    Where a policy costs many times the optimum, the axis ends before it: the differences among the
    good policies would not be seen otherwise.
    """
    values = [v for p in panels for line in p.series.values() for v in line if v is not None]
    best = [v for p in panels for v in p.series.get("optimal", []) if v is not None]
    if not values:
        return 1.0, 10.0
    low = min(values)
    high = max(v for v in values if not best or v <= _FAR * max(best))
    return low * 0.97, max(high * 1.03, low * 1.1)


def beyond(panels: Sequence[Panel], limits: tuple[float, float]) -> list[str]:
    """The policies that leave the top of a panel somewhere."""
    return unique(
        name
        for panel in panels
        for name, line in panel.series.items()
        if any(value is not None and value > limits[1] for value in line)
    )


def clip() -> Markup:
    """The area of a panel, once for the whole page: lines are not drawn outside it."""
    area = element("rect", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP)
    inside = element("defs", element("clipPath", area, id="plot"))
    return element("svg", inside, class_="hidden", aria_hidden="true", width=0, height=0)


def draw(panel: Panel, limits: tuple[float, float]) -> Markup:
    """The panel as SVG."""
    across = LogScale(panel.sizes[0], panel.sizes[-1], _LEFT + 10, _RIGHT - 10)
    up = LogScale(limits[0], limits[1], _BOTTOM, _TOP)
    ticks = ((up(value), plain_number(value)) for value in up.ticks())
    axes = Frame(_LEFT, _RIGHT, _BOTTOM, _HEIGHT - 8, crowded=8).axes(panel.sizes, across, ticks)
    parts = [axes, _impossible(panel, across, up)]
    drawn = (
        _line(name, panel, across, up)
        for name in sorted(panel.series, key=lambda name: name == "optimal")
    )
    parts.append(element("g", *drawn, clip_path="url(#plot)"))
    parts.append(element("line", class_="cursor", y1=_TOP, y2=_BOTTOM, x1=0, x2=0))
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        class_="panel",
        tabindex="0",
        role="img",
        aria_label=f"Mean cost per reference against block size on {panel.machine}. "
        "Arrow keys move between block sizes.",
        data_machine=panel.machine,
        data_x=" ".join(f"{across(size):.1f}" for size in panel.sizes),
    )


def _impossible(panel: Panel, across: LogScale, up: LogScale) -> Markup:
    """The area below the optimum, where no policy can be."""
    best = panel.series.get("optimal", [])
    points = [
        (across(size), up(value))
        for size, value in zip(panel.sizes, best, strict=False)
        if value is not None
    ]
    if len(points) < 2:
        return Markup("")
    outline = path_of([*points]) + f"V{_BOTTOM}H{points[0][0]:.2f}Z"
    return element("path", class_="impossible", d=outline)


def _line(name: str, panel: Panel, across: LogScale, up: LogScale) -> Markup:
    points = [
        None if value is None else (across(size), up(value))
        for size, value in zip(panel.sizes, panel.series[name], strict=True)
    ]
    best = name == "optimal"
    dashes = dashes_of(name)
    return series(
        points,
        f"{dashes[0]} {dashes[1]}" if dashes[-1] else None,
        class_="series best" if best else "series",
        data_policy=name,
        style=None if best else f"--series:{colour_of(name)}",
    )

"""Figures for papers, drawn with matplotlib (``pip install 'homenode[plot]'``)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from homenode.errors import ConfigError, of_extra
from homenode.options.specs import format_size, unique
from homenode.results.palette import colour_of, dashes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.figure import Figure

    from homenode.engines.bus import BusResult
    from homenode.engines.sensitivity import SensitivityResult
    from homenode.engines.tlb import TlbResult
    from homenode.results.result import Result

_STYLE: Any = {
    "font.size": 8,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "homenode",
    "pdf.fonttype": 42,
}

_BUS_AXES = {"processors": "processors", "cache_size": "cache", "block_size": "blocks"}


@contextmanager
def _figure(
    width: float, height: float, panels: int, *, sharey: bool = True
) -> Iterator[tuple[Figure, Any]]:
    """A figure and its panels beside each other, in our style."""
    with of_extra("plot", "matplotlib"):
        import matplotlib as mpl
        from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots(1, panels, sharey=sharey, squeeze=False)[0]


def mcpr_against_block_size(result: Result, machine: str | None = None) -> Figure:
    """MCPR against block size on logarithmic axes, one panel a machine.

    Args:
        result: the outcomes.
        machine: only this machine.

    Raises:
        ConfigError: when no outcome has a finite cost.

    Source: Bolosky, thesis, figures 6.4 to 6.6.
    """
    rows = [r for r in result if machine in {None, r["machine"]} and r["mcpr"] is not None]
    machines = unique(row["machine"] for row in rows)
    if not machines:
        raise ConfigError("there is no outcome to draw; simulate with this machine first")
    with _figure(3.3 * len(machines), 2.8, len(machines)) as (figure, panels):
        for panel, name in zip(panels, machines, strict=True):
            _panel(panel, [row for row in rows if row["machine"] == name])
            panel.set_title(name)
        panels[0].set_ylabel("mean cost per reference")
        panels[-1].legend(frameon=False, fontsize=7)
    return figure


def misses_against_page_size(result: TlbResult) -> Figure:
    """TLB misses per reference against page size on logarithmic axes, one line a TLB.

    A page size at which a TLB never misses has no point: it would be at minus infinity.

    Raises:
        ConfigError: when no TLB ever misses.

    Source: Bolosky, thesis, figures 6.10 and A.17 to A.29.
    """
    rows = [row for row in result if row["miss_rate"]]
    if not rows:
        raise ConfigError("there is no miss to draw")
    sizes = sorted({row["page_size"] for row in rows})
    with _figure(3.3, 2.8, 1) as (figure, (axes,)):
        for tlb in unique(row["tlb"] for row in rows):
            points = sorted((r["page_size"], r["miss_rate"]) for r in rows if r["tlb"] == tlb)
            x, y = zip(*points, strict=True)
            axes.plot(x, y, label=tlb, linewidth=1.2, marker="o", markersize=2.5)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(sizes, [format_size(size) for size in sizes], rotation=45)
        axes.set_xlabel("page size")
        axes.set_ylabel("TLB misses per reference")
        axes.legend(frameon=False, fontsize=7)
    return figure


def power_on_a_bus(result: BusResult) -> Figure:
    """Global system power and bus utilisation, one line a protocol and cache.

    The horizontal axis is the number of processors, the cache size or the block size: the first of
    them that has several values in the result.

    Raises:
        ConfigError: when nothing was simulated in cycles, or all that differs is the protocol.

    Source: Foglia, Giorgi and Prete 2004, figures 4, 7, 8, 14 and 17.
    """
    rows = [row for row in result if row["order"] == "clock" and row["bus_utilisation"] is not None]
    axis = next((key for key in _BUS_AXES if len({row[key] for row in rows}) > 1), None)
    if axis is None:
        raise ConfigError(
            "there is no line to draw; simulate several numbers of processors (scaling), cache "
            "sizes or block sizes in cycles (order clock) first"
        )
    with _figure(6.6, 2.8, 2, sharey=False) as (figure, (power, bus)):
        for label, line in _bus_lines(rows, axis).items():
            x, gsp, share = zip(*sorted(line), strict=True)
            look: Any = {"label": label, "linewidth": 1.2, "marker": "o", "markersize": 2.5}
            power.plot(x, gsp, **look)
            bus.plot(x, [100 * part for part in share], **look)
        for panel in (power, bus):
            _bus_axis(panel, axis, sorted({row[axis] for row in rows}))
            panel.set_ylim(bottom=0)
        power.set_ylabel("global system power")
        bus.set_ylabel("bus utilisation in percent")
        power.legend(frameon=False, fontsize=7)
    return figure


def _bus_lines(rows: list[dict[str, Any]], axis: str) -> dict[str, list[tuple[int, float, float]]]:
    """The points of each line: place on the axis, power, utilisation of the bus."""
    others = [key for key in _BUS_AXES if key != axis and len({row[key] for row in rows}) > 1]
    machines = {row["machine"] for row in rows}
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for row in rows:
        sizes = [f"{format_size(row[key])} {_BUS_AXES[key]}" for key in others]
        label = ", ".join(
            [row["protocol"], *([row["machine"]] if len(machines) > 1 else []), *sizes]
        )
        lines.setdefault(label, []).append((row[axis], row["gsp"], row["bus_utilisation"]))
    return lines


def _bus_axis(axes: Any, axis: str, values: list[int]) -> None:
    axes.set_xlabel(_BUS_AXES[axis])
    if axis == "processors":
        axes.xaxis.get_major_locator().set_params(integer=True)
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks(values, [format_size(value) for value in values])
    axes.minorticks_off()


def spread_of_orders(results: Mapping[str, SensitivityResult]) -> Figure:
    """From the least MCPR to the largest of several orders, a bar a policy, a dot at the mean.

    One panel a machine and block size; in each, the programs one under the other. A bar spans the
    whole effect of the order of the threads.

    Args:
        results: outcomes for one or several programs, by the name to be drawn.

    Raises:
        ConfigError: when no outcome has a finite cost.
    """
    rows = [{**row, "name": name} for name, result in results.items() for row in result]
    rows = [row for row in rows if row["mean"] is not None]
    points = unique((row["machine"], row["block_size"]) for row in rows)
    if not points:
        raise ConfigError("there is no finite cost to draw")
    policies = unique(row["policy"] for row in rows)
    names = unique(row["name"] for row in rows)
    height = 0.9 + 0.11 * len(names) * (len(policies) + 1)
    with _figure(3.6 * len(points), height, len(points)) as (figure, panels):
        for panel, point in zip(panels, points, strict=True):
            here = [row for row in rows if (row["machine"], row["block_size"]) == point]
            _spreads(panel, here, names, policies)
            panel.set_title(f"{point[0]}, {format_size(point[1])} blocks")
        panels[0].set_yticks(range(len(names)), names)
        panels[0].invert_yaxis()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _spreads(axes: Any, rows: list[dict[str, Any]], names: list[str], policies: list[str]) -> None:
    step = 0.75 / len(policies)
    for number, policy in enumerate(policies):
        chosen = [row for row in rows if row["policy"] == policy]
        y = [names.index(row["name"]) + (number - (len(policies) - 1) / 2) * step for row in chosen]
        colour = colour_of(policy)
        least, most = ([row[field] for row in chosen] for field in ("min", "max"))
        axes.hlines(y, least, most, color=colour, linewidth=1.5)
        axes.plot(least + most, y + y, "|", color=colour, markersize=5)
        means = [row["mean"] for row in chosen]
        axes.plot(means, y, "o", color=colour, markersize=3, label=policy)
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color="0.8", linewidth=0.4)
    axes.set_xscale("log", subs=[2, 5])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.tick_params(axis="x", which="both", length=3, pad=3)
    axes.set_xlabel("mean cost per reference")
    axes.grid(visible=False, axis="y")


def _panel(axes: Any, rows: list[dict[str, Any]]) -> None:
    sizes = sorted({row["block_size"] for row in rows})
    for policy in unique(row["policy"] for row in rows):
        points = sorted((r["block_size"], r["mcpr"]) for r in rows if r["policy"] == policy)
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            label=policy,
            color=colour_of(policy),
            dashes=dashes_of(policy),
            linewidth=2 if policy == "optimal" else 1.2,
            marker="o",
            markersize=2.5,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [format_size(size) for size in sizes], rotation=45)
    axes.set_xlabel("block size")

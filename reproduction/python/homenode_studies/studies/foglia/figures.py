"""Figures 2 to 22, with rings for numbers in the text or table 5."""

from collections.abc import Callable, Mapping, Sequence

from homenode_studies.studies.foglia import EC, PAPER, tables
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.matrix import (
    BLOCKS,
    CURVES,
    FEW,
    MANY,
    OTHERS,
    PROTOCOLS,
    SCHEDULERS,
    SERVER,
    SIZES,
    SMALL_BLOCKS,
    Setting,
)
from homenode_studies.studies.foglia.runs import Runs
from homenode_studies.studies.foglia.tables import label, printed_numbers, setting_of
from homenode_studies.studies.published import tables as published
from homenode_studies.studies.tables import Axis, Figure, Row

Bars = Sequence[tuple[str, str, str, Setting]]
"""The group, name, workload and machine of each bar."""
Value = Callable[[Row], float]

_SIZE_NAMES = {size: f"{size >> 10} KB" if size < 1 << 20 else f"{size >> 20} MB" for size in SIZES}
_CACHE = Axis("cache of each processor, bytes", log=True, sizes=True)
_BY_SIZE = Axis("cache of each processor")
_MISS_RATE = Axis("misses, % of references", limit=0)
_INVALIDATION = Axis("invalidation misses, % of references", limit=0)
_COHERENCE = Axis("coherence transactions for 100 references", limit=0)
_POWER = Axis("global system power", limit=0)
_BUS = Axis("bus utilisation, %", limit=0)
_USE = Axis("mean utilisation of processors, %", limit=0)


def _bus(row: Row) -> float:
    return 100 * m.bus(row)


def _use(row: Row) -> float:
    return 100 * m.utilisation(row)


def miss_parts(row: Row) -> dict[str, float]:
    """The parts of a bar of figures 2, 9, 12 and 20."""
    return {
        f"{name}, {part}": value(row, part=part)
        for name, value in (("other misses", m.others), ("invalidation misses", m.invalidations))
        for part in m.PARTS
    }


def _parts(count: Callable[..., float]) -> Callable[[Row], dict[str, float]]:
    """The parts of a bar, as a count has them, by kind of sharing."""
    return lambda row: {
        f"{kind} sharing, {part}": count(row, kind, part=part)
        for part in m.PARTS
        for kind in m.KINDS
    }


invalidation_parts = _parts(m.invalidations)
"""The parts of a bar of figures 3, 10 and 22."""
coherence_parts = _parts(m.coherence)
"""The parts of a bar of figures 5, 13, 15 and 21."""


def figures(runs: Runs) -> list[Figure]:
    """Every figure of the workloads that were run."""
    found = [*_limits(runs), *_blocks(runs), *_affinity(runs), *_protocols(runs), *_beyond(runs)]
    found += _distributed(runs)
    return sorted((figure for figure in found if figure.rows), key=_number)


def _number(figure: Figure) -> tuple[int, str]:
    digits = "".join(c for c in figure.name if c.isdigit())
    return int(digits or 99), figure.name


def _limits(runs: Runs) -> list[Figure]:
    """Figures 2 to 6: cache sizes with 4 and 8 processors."""
    at = [
        (size, n, SMALL_BLOCKS.changed(processors=n, cache_size=size))
        for size in SIZES
        for n in FEW
    ]
    bars = [(_SIZE_NAMES[size], f"{n} proc.", EC, setting) for size, n, setting in at]
    lines = [(f"{n} processors", size, setting) for size, n, setting in at]
    what = "4 and 8 processors, random scheduling, 32-byte blocks, two ways"
    return [
        _stacks(
            runs, 2, f"miss rate and cache size: {what}", (bars, miss_parts), (_BY_SIZE, _MISS_RATE)
        ),
        _stacks(
            runs,
            3,
            f"invalidation misses and cache size: {what}",
            (bars, invalidation_parts),
            (_BY_SIZE, _INVALIDATION),
        ),
        _lines(runs, 4, f"power and cache size: {what}", (lines, m.gsp), (_CACHE, _POWER)),
        _stacks(
            runs,
            5,
            f"coherence transactions and cache size: {what}",
            (bars, coherence_parts),
            (_BY_SIZE, _COHERENCE),
        ),
        _lines(
            runs,
            6,
            f"utilisation of processors and cache size: {what}",
            (lines, _use),
            (_CACHE, _USE),
        ),
    ]


def _blocks(runs: Runs) -> list[Figure]:
    """Figures 7 to 10: cache and block sizes with 8 processors."""
    at = [(s, b, Setting(cache_size=s, block_size=b)) for s in SIZES for b in BLOCKS]
    bars = [(_SIZE_NAMES[size], f"{block} B", EC, setting) for size, block, setting in at]
    lines = [(f"{block} bytes", size, setting) for size, block, setting in at]
    what = "8 processors, random scheduling, two ways"
    return [
        _lines(runs, 7, f"power by block size: {what}", (lines, m.gsp), (_CACHE, _POWER)),
        _lines(runs, 8, f"bus utilisation by block size: {what}", (lines, _bus), (_CACHE, _BUS)),
        _stacks(
            runs, 9, f"miss rate by block size: {what}", (bars, miss_parts), (_BY_SIZE, _MISS_RATE)
        ),
        _stacks(
            runs,
            10,
            f"invalidation misses by block size: {what}",
            (bars, invalidation_parts),
            (_BY_SIZE, _INVALIDATION),
        ),
    ]


def _affinity(runs: Runs) -> list[Figure]:
    """Figures 11 to 13: scheduling with 8 processors."""
    at = [(s, p, Setting(cache_size=s, scheduler=p)) for s in SIZES for p in SCHEDULERS]
    bars = [(_SIZE_NAMES[size], policy, EC, setting) for size, policy, setting in at]
    lines = [(policy, size, setting) for size, policy, setting in at]
    what = "8 processors, 128-byte blocks, two ways"
    return [
        _lines(runs, 11, f"power by scheduling: {what}", (lines, m.gsp), (_CACHE, _POWER)),
        _stacks(
            runs,
            12,
            f"miss rate by scheduling: {what}",
            (bars, miss_parts),
            (_BY_SIZE, _MISS_RATE),
        ),
        _stacks(
            runs,
            13,
            f"coherence transactions by scheduling: {what}",
            (bars, coherence_parts),
            (_BY_SIZE, _COHERENCE),
        ),
    ]


def _protocols(runs: Runs) -> list[Figure]:
    """Figures 14 to 18: protocols with 8, 12 and 16 processors."""
    bars = [
        (f"{n}, {policy}", label(name), EC, Setting(name, n, scheduler=policy))
        for n in MANY
        for policy in SCHEDULERS
        for name in PROTOCOLS
    ]
    across = Axis("processors, scheduling, protocol")
    what = "2 MB caches, 128-byte blocks, two ways"
    shown: list[tuple[str, str, Callable[[Row], dict[str, float]] | Value, Axis]] = [
        ("14", "power", m.gsp, _POWER),
        ("15a", "coherence transactions", coherence_parts, _COHERENCE),
        ("15b", "invalidation misses", invalidation_parts, _INVALIDATION),
        ("16", "miss rate", miss_parts, _MISS_RATE),
        ("17", "bus utilisation", _bus, _BUS),
        ("18", "utilisation of processors", _use, _USE),
    ]
    return [
        _stacks(runs, number, f"{name} by protocol: {what}", (bars, value), (across, up))
        for number, name, value, up in shown
    ]


def _distributed(runs: Runs) -> list[Figure]:
    """Figures 19 to 22: the three workloads."""
    bars = [
        (workload, label(name), workload, SERVER.changed(protocol=name))
        for workload in runs.workloads()
        for name in PROTOCOLS
    ]
    across = Axis("workload and protocol")
    what = "16 processors, affinity, 2 MB caches, 128-byte blocks, two ways"
    return [
        _stacks(runs, 19, f"power of the workloads: {what}", (bars, m.gsp), (across, _POWER)),
        _stacks(
            runs,
            20,
            f"miss rate of the workloads: {what}",
            (bars, miss_parts),
            (across, _MISS_RATE),
        ),
        _stacks(
            runs,
            21,
            f"coherence transactions of the workloads: {what}",
            (bars, coherence_parts),
            (across, _COHERENCE),
        ),
        _stacks(
            runs,
            22,
            f"invalidation misses of the workloads: {what}",
            (bars, invalidation_parts),
            (across, _INVALIDATION),
        ),
    ]


def _beyond(runs: Runs) -> list[Figure]:
    """Figures beyond the paper: power against processors, and further protocols."""
    if EC not in runs.workloads():
        return []
    bars = [
        (workload, label(name), workload, SERVER.changed(protocol=name))
        for workload in runs.workloads()
        for name in (*PROTOCOLS, *OTHERS)
    ]
    across, processors = Axis("workload and protocol"), Axis("processors", sizes=True)
    title = "power under six protocols: 16 processors, affinity, 2 MB, 128-byte blocks"
    return [
        Figure(
            "figure-scaling",
            "power against processors of the machines of table 5, EC-server",
            "lines",
            [*tables.curves(runs), *_ends()],
            processors,
            _POWER,
            dashed=True,
            note="Beyond the paper. Rings: power at the scalability that table 5 gives.",
        ),
        _stacks(runs, "protocols", title, (bars, m.gsp), (across, _POWER)),
    ]


def _ends() -> list[Row]:
    """The scalability of table 5 as points of the curves."""
    named = {setting.changed(processors=8): name for name, setting in CURVES}
    return [
        {
            "series": named[setting_of(row).changed(processors=8)],
            "x": row["processors_max"],
            "y": row["gsp_max"],
            "printed": True,
        }
        for row in published(PAPER.name)["table-5"]
    ]


def _lines(
    runs: Runs,
    number: int,
    title: str,
    drawn: tuple[Sequence[tuple[str, int, Setting]], Value],
    axes: tuple[Axis, Axis],
) -> Figure:
    """Lines over cache sizes of EC-server."""
    (lines, value), (across, up) = drawn, axes
    rows: list[Row] = []
    printed = _printed(up)
    for name, x, setting in lines if EC in runs.workloads() else ():
        rows.append({"series": name, "x": x, "y": value(runs.at(EC, setting))})
        if setting in printed:
            rows.append({"series": name, "x": x, "y": printed[setting], "printed": True})
    heading, note = _told(title, rows)
    return Figure(f"figure-{number}", heading, "lines", rows, across, up, note=note, dashed=True)


def _stacks(
    runs: Runs,
    number: int | str,
    title: str,
    drawn: tuple[Bars, Callable[[Row], dict[str, float]] | Value],
    axes: tuple[Axis, Axis],
) -> Figure:
    """Bars of several parts, or of a single part."""
    (bars, value), (across, up) = drawn, axes
    rows: list[Row] = []
    printed = _printed(up)
    for group, bar, workload, setting in bars:
        if workload not in runs.workloads():
            continue
        found = value(runs.at(workload, setting))
        parts: Mapping[str, float] = found if isinstance(found, dict) else {bar: found}
        rows += [{"series": p, "x": group, "bar": bar, "y": y} for p, y in parts.items()]
        if workload == EC and setting in printed:
            ring = {"series": "printed", "x": group, "bar": bar, "y": printed[setting]}
            rows.append(ring | {"printed": True})
    heading, note = _told(title, rows)
    return Figure(f"figure-{number}", heading, "stacks", rows, across, up, note=note)


def _told(title: str, rows: Sequence[Row]) -> tuple[str, str]:
    """The content and the machines of a figure, with a note on rings if there are any."""
    heading, _, machines = title.partition(": ")
    rings = " Rings: values stated in the paper." if any(row.get("printed") for row in rows) else ""
    return heading, f"{machines[:1].upper()}{machines[1:]}.{rings}"


_OF_AXIS = {
    _POWER.label: "gsp",
    _BUS.label: "bus_utilisation",
    _MISS_RATE.label: "miss_rate",
}


def _printed(up: Axis) -> dict[Setting, float]:
    """The numbers in the text for the quantity of an axis."""
    return printed_numbers(_OF_AXIS.get(up.label, ""))

"""The tables that `homenode simulate` prints for machines whose processors have coherent caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.cli.output import echo
from homenode.cli.tables import numbers, print_table, texts
from homenode.options.specs import format_size, percent, plain_number, plural, unique

if TYPE_CHECKING:
    from homenode.results.result import Result

_CACHE = ("trace", "machine", "cache_size", "associativity", "block_size")
_TIMED = ("power", "bus", "cycles")
_LINKED = ("power", "cycles", "false sharing waits", "true sharing waits", "other waits")
_UNTIMED = ("coherence", "write-backs", "bus cycles")
_CLASSES = ("cold", "replacement", "invalidation", "removal")


def print_result(result: Result) -> None:
    """Prints one table a machine and cache.

    A line is a protocol; where several numbers of processors were simulated, a number of them.
    """
    scaled = len(unique(row["processors"] for row in result)) > 1
    for cache in unique(tuple(row[key] for key in _CACHE) for row in result):
        rows = [row for row in result if tuple(row[key] for key in _CACHE) == cache]
        if scaled:
            _print_scaling(rows)
        else:
            _print_protocols(rows)
    for line in result.scalability:
        _print_scalability(line)


def _print_protocols(rows: list[dict[str, Any]]) -> None:
    last: tuple[str, ...] = _TIMED if rows[0]["order"] == "clock" else _UNTIMED
    if rows[0]["waits"] is not None:
        last = _LINKED
    names = ("misses", *_CLASSES, "true", "false", "passive", *last)
    title = f"{_title(rows[0])}; coherence and its kinds are bus transactions"
    print_table([*texts("protocol"), *numbers(*names)], [_cells(row) for row in rows], title)


def _print_scaling(rows: list[dict[str, Any]]) -> None:
    """One line a number of processors, two columns a protocol: all else is in the JSON."""
    protocols = unique(row["protocol"] for row in rows)
    timed = rows[0]["order"] == "clock"
    shown = ("power", "bus") if timed else ("misses", "bus cycles")
    if rows[0]["waits"] is not None:
        shown = ("power", "cycles")
    found = {(row["processors"], row["protocol"]): _pair(row) for row in rows}
    counts = unique(row["processors"] for row in rows)
    print_table(
        numbers("processors", *(f"{name} {what}" for name in protocols for what in shown)),
        [
            [str(count), *(cell for name in protocols for cell in found[count, name])]
            for count in counts
        ],
        _title(rows[0], scaled=True),
    )


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    if row["waits"] is not None:
        return f"{row['gsp']:.2f}", plain_number(row["cycles"])
    if row["order"] == "clock":
        return f"{row['gsp']:.2f}", _percent(row["bus_utilisation"])
    bus_cycles = row["bus_cycles"]
    return _percent(row["miss_rate"]), "-" if bus_cycles is None else plain_number(bus_cycles)


def _percent(share: float | None) -> str:
    return percent(share, ".3g")


def _print_scalability(line: dict[str, Any]) -> None:
    point = line["critical_point"]
    found = "not among these numbers"
    if point is not None:
        found = f"{point} {plural(point, 'processor')}"
    cache, block = format_size(line["cache_size"]), format_size(line["block_size"])
    echo(
        f"{line['protocol']} on {line['machine']}, {cache}, {block} blocks: critical point {found}"
    )


def _title(row: dict[str, Any], *, scaled: bool = False) -> str:
    count = row["processors"]
    processors = "" if scaled else f"{count} {plural(count, 'processor')}, "
    cache, block = format_size(row["cache_size"]), format_size(row["block_size"])
    ways = "fully associative"
    if row["associativity"] * row["block_size"] < row["cache_size"]:
        ways = f"{row['associativity']}-way"
    return (
        f"{row['trace']} on {row['machine']}, {processors}{cache} {ways}, {block} blocks: "
        f"{row['references']:,} references, kernel activity {row['kernel_activity']}"
    )


def _cells(row: dict[str, Any]) -> list[str]:
    misses, coherence = row["misses"], row["coherence"]
    invalidations = sum(count for name, count in misses.items() if name.startswith("invalidation"))
    by_class = {**misses, "invalidation": invalidations}
    counts = [by_class[name] for name in _CLASSES]
    counts += [coherence[name] for name in ("true", "false", "passive")]
    if row["waits"] is not None:
        last = [*_pair(row), *_waits(row)]
    elif row["order"] == "clock":
        last = [*_pair(row), plain_number(row["cycles"])]
    else:
        back = row["transactions"]["update_block"]
        last = [*map(plain_number, (sum(coherence.values()), back)), _pair(row)[1]]
    rate = _percent(row["miss_rate"])
    return [row["protocol"], rate, *map(plain_number, counts), *last]


def _waits(row: dict[str, Any]) -> list[str]:
    """Shares of the processors' time that waiting takes."""
    time = row["busy_cycles"] + row["delay_cycles"]
    cycles = {cause: waits["cycles"] for cause, waits in row["waits"].items()}
    shared = [cycles["false_sharing"], cycles["true_sharing"]]
    parts = [*shared, row["delay_cycles"] - sum(shared)]
    return [_percent(part / time) if time else "-" for part in parts]

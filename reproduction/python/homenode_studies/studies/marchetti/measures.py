"""Measures for figures and claims, as functions of simulated points. Shares are fractions."""

from collections.abc import Callable

from homenode_studies.studies.marchetti import HARDWARE
from homenode_studies.studies.marchetti.matrix import BLOCKS, PAPER_CASE, WITH, WITHOUT, Setting
from homenode_studies.studies.marchetti.runs import Runs
from homenode_studies.studies.tables import Missing, Row

Value = Callable[[Row], float]

PARTS = ("busy", "read_stall", "write_stall", "sync_stall", "os_stall")
"""The uses of the processors' cycles."""


def cycles(row: Row) -> float:
    """The time from the end of initialisation to the end."""
    return float(row["cycles"])


def local_fills(row: Row) -> float:
    """The share of fills from the node's own memory."""
    return _there(row["local_fill_share"], "fills")


def local_write_backs(row: Row) -> float:
    """The share of write-backs to the node's own memory."""
    return _there(row["local_write_back_share"], "write-backs")


def fill_time(row: Row) -> float:
    """The mean time of a fill in cycles."""
    return _there(row["mean_fill_cycles"], "fills")


def miss_rate(row: Row) -> float:
    """Misses per reference."""
    return _there(row["miss_rate"], "references")


def false_misses(row: Row) -> float:
    """Misses by false sharing per reference."""
    return _over(float(row["misses_invalidation_false"]), float(row["references"]), "references")


def evictions(row: Row) -> float:
    """The share of misses on blocks that had been evicted."""
    return of_misses(row, "misses_replacement")


def false_share(row: Row) -> float:
    """The share of misses by false sharing."""
    return of_misses(row, "misses_invalidation_false")


def of_misses(row: Row, name: str) -> float:
    """The share of misses of a class."""
    misses = sum(float(count) for other, count in row.items() if other.startswith("misses_"))
    return _over(float(row[name]), misses, "misses")


def messages(row: Row) -> float:
    """Messages between nodes."""
    return sum(float(count) for name, count in row.items() if name.startswith("messages_"))


def distance(row: Row) -> float:
    """The mean number of links of a message between nodes."""
    return _over(float(row["hops"]), messages(row), "messages")


def part(row: Row, name: str) -> float:
    """The share of the processors' cycles for one use."""
    return _over(float(row[name]), float(row["processors"]) * cycles(row), "cycles")


def compared(runs: Runs, value: Value, base: Setting, other: Setting) -> dict[str, float]:
    """A value with one setting over that with another, for each program."""
    return {
        program: _over(value(runs.at(program, base)), value(runs.at(program, other)), "such misses")
        for program in runs.programs()
    }


def each(runs: Runs, setting: Setting, value: Value) -> dict[str, float]:
    """A value of each program."""
    return {program: value(runs.at(program, setting)) for program in runs.programs()}


def changed(runs: Runs, program: str, value: Value, base: Setting = PAPER_CASE) -> float:
    """A value with placement over that without."""
    return _over(
        value(runs.at(program, base.changed(home=WITH))),
        value(runs.at(program, base.changed(home=WITHOUT))),
        "such events",
    )


def reduction(runs: Runs, value: Value, base: Setting = PAPER_CASE) -> dict[str, float]:
    """By how much placement reduces a value of each program."""
    return {program: 1 - changed(runs, program, value, base) for program in runs.programs()}


def gain(runs: Runs, program: str, base: Setting = PAPER_CASE) -> float:
    """By how much placement reduces the time of a program."""
    return 1 - changed(runs, program, cycles, base)


def by_block(runs: Runs, program: str, value: Value, home: str) -> list[float]:
    """A value of the hardware with each block size."""
    base = Setting(protocol=HARDWARE, home=home)
    return [value(runs.at(program, base.changed(block_size=block))) for block in BLOCKS]


def gains_by_block(runs: Runs, program: str, protocol: str = HARDWARE) -> list[float]:
    """The gain from placement with each block size."""
    base = PAPER_CASE.changed(protocol=protocol)
    return [gain(runs, program, base.changed(block_size=block)) for block in BLOCKS]


def _there(value: float | None, what: str) -> float:
    if value is None:
        raise Missing(f"there are no {what}")
    return float(value)


def _over(one: float, other: float, what: str) -> float:
    if other == 0:
        raise Missing(f"there are no {what}")
    return one / other

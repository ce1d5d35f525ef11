"""Measures for figures and claims, as functions of simulated points.

Rates of misses are percentages of the references to blocks, fetches included, and coherence
transactions are those for 100 references (section 5, figures 2 to 22). If fetches were not
recorded, a data reference counts as four references.
"""

from collections.abc import Callable, Sequence

from homenode import _core
from homenode_studies.studies.foglia.matrix import Setting
from homenode_studies.studies.foglia.runs import Runs
from homenode_studies.studies.tables import Missing, Row

KINDS = ("true", "false", "passive")
PARTS = ("kernel", "user")
ORIGINS = ("kernel_page", "user_page", "processor_area", "other")
OPERATION = 2
"""Table 4: cycles of a read or write operation."""


def gsp(row: Row) -> float:
    """Global system power."""
    return float(row["gsp"])


def bus(row: Row) -> float:
    """Bus utilisation as a share."""
    return float(row["bus_utilisation"])


def utilisation(row: Row) -> float:
    """Mean utilisation of the processors as a share."""
    return float(row["processor_utilisation"])


def misses(row: Row, *classes: str, part: str = "") -> float:
    """Misses of some classes (all if none is named) in percent of the references."""
    return (
        100
        * _count(row, "misses", classes or _ALL, part)
        / float(row["stands_for"] * row["block_references"])
    )


def invalidations(row: Row, *kinds: str, part: str = "") -> float:
    """Invalidation misses in percent of the references, of some kinds of sharing or all."""
    return misses(row, *(f"invalidation_{kind}" for kind in kinds or KINDS), part=part)


def others(row: Row, part: str = "") -> float:
    """The other misses, in percent: cold, replacement, and copies removed with their process."""
    return misses(row, "cold", "replacement", "removal", part=part)


def coherence(row: Row, *kinds: str, part: str = "") -> float:
    """Coherence transactions (invalidate and write) for 100 references."""
    return 100 * _count(row, "coherence", kinds or KINDS, part) / _references(row)


def delay_per_miss(row: Row) -> float:
    """Cycles for which a miss delays its processor, from the power and the misses.

    Source: ours, from the definition of the power in section 4 and table 4: each reference takes
    2 cycles, and so each processor's `N / power - 1` times that are delay.

    Raises:
        Missing: when there are no misses.
    """
    return delay_of(float(row["processors"]), gsp(row), misses(row))


def delay_of(processors: float, power: float, miss_rate: float) -> float:
    """The same from printed numbers; the miss rate is in percent.

    >>> round(delay_of(8, 5.6, 1.1)), round(delay_of(8, 7, 0.39))
    (78, 73)
    """
    return over(OPERATION * (processors / power - 1), miss_rate / 100, "misses")


def idle(row: Row) -> float:
    """The share of the processors' cycles without a process."""
    return float(row["idle_cycles"]) / (float(row["cycles"]) * float(row["processors"]))


def writes_of(row: Row, origin: str) -> float:
    """Write and invalidate transactions on a kind of page, for 100 references."""
    return 100 * float(row[f"coherence_origin_{origin}"]) / _references(row)


def invalidation_share(row: Row) -> float:
    """Invalidation misses as a share of all misses.

    Raises:
        Missing: when there are no misses.
    """
    return over(invalidations(row), misses(row), "misses")


def read_blocks(row: Row) -> float:
    """Read-block transactions, which fetch a block without invalidating others (section 2)."""
    return float(row["transactions_read_block_memory"] + row["transactions_read_block_cache"])


def overhead_cycles(row: Row) -> float:
    """Cycles of the bus for coherence, for 100 references.

    Invalidate and write transactions take 5 each, and an invalidation miss fetches a block from a
    cache, which takes 8 cycles and an eighth of the block's bytes (table 4).
    """
    transfer = 8 + float(row["block_size"]) / 8
    messages = float(row["transactions_invalidate"] + row["transactions_write"])
    fetched = _count(row, "misses", tuple(f"invalidation_{kind}" for kind in KINDS), "")
    return 100 * (5 * messages + transfer * fetched) / _references(row)


def migrations(row: Row) -> float:
    """Migrations of processes for a million references."""
    return 1e6 * float(row["migrations"]) / _references(row)


def scalability(runs: Runs, workload: str, base: Setting) -> tuple[float, float]:
    """The critical point of a machine, and its power there.

    If it is beyond the simulated numbers, the largest of these is returned.

    Raises:
        Missing: when only one number of processors was simulated.
    """
    rows = runs.curve(workload, base)
    if len(rows) < 3:
        raise Missing(f"needs {workload} with several numbers of processors")
    powers = {int(row["processors"]): gsp(row) for row in rows}
    found = _core.critical_point(list(powers.items()))
    limit = max(powers) if found is None else found
    return float(limit), powers[limit]


def over(one: float, other: float, what: str) -> float:
    """One number over another.

    Raises:
        Missing: when the other is zero.
    """
    if other == 0:
        raise Missing(f"there are no {what}")
    return one / other


def part_of(part: float, whole: float, what: str) -> float:
    """The share of a part in what is gained or saved.

    Raises:
        Missing: when nothing is: if both are negative, their ratio is positive all the same.
    """
    if whole <= 0:
        raise Missing(f"there are no {what}")
    return part / whole


def series(
    runs: Runs, workload: str, settings: Sequence[Setting], value: Callable[[Row], float]
) -> list[float]:
    """A value for each of some settings."""
    return [value(runs.at(workload, setting)) for setting in settings]


_ALL = (
    "cold",
    "replacement",
    "removal",
    "invalidation_true",
    "invalidation_false",
    "invalidation_passive",
)


def _references(row: Row) -> float:
    """References, including those that the trace lacks and the machine compensates for."""
    return float(row["stands_for"] * row["references"])


def _count(row: Row, group: str, classes: Sequence[str], part: str) -> float:
    whole = sum(row[f"{group}_{name}"] for name in classes)
    if not part:
        return float(whole)
    kernel = sum(row[f"kernel_{group}_{name}"] for name in classes)
    return float(kernel if part == "kernel" else whole - kernel)

"""Rules for the study's claims, in addition to those that all studies share."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from homenode_studies.studies.claims import (
    TIE,
    Claim,
    about,
    falls,
    less_than,
    more_than,
    points,
    rises,
)
from homenode_studies.studies.foglia import EC
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.matrix import SIZES, Setting
from homenode_studies.studies.foglia.printed import at_scalability
from homenode_studies.studies.foglia.reasons import FASTER
from homenode_studies.studies.foglia.runs import Runs, extended, ours
from homenode_studies.studies.reasons import Number, Reason
from homenode_studies.studies.tables import Evidence, Row

STEP = 2
"""The step of the simulated numbers of processors: an odd scalability is between two of them."""

TEN = 10
"""Percentages below this are judged as numbers, within a tenth."""


HIGHER = more_than(1 + TIE)
"""Whether every ratio of two powers is above one by more than a tie."""
LOWER = less_than(1 - TIE)
"""Whether every ratio of two powers is below one by more than a tie."""
ANY_DIFFERENCE = "any difference in power sufficed"


def at(setting: Setting, value: Callable[[Row], float]) -> Callable[[Evidence], float]:
    """A value of one machine under EC-server."""
    return lambda e: value(ours(e).at(EC, setting))


def over_sizes(value: Callable[[Row], float], *settings: Setting) -> Callable[[Evidence], Any]:
    """A value over the cache sizes of one machine, or of several by the name of what varies."""

    def compute(evidence: Evidence) -> Any:
        runs = ours(evidence)
        found = {_name(setting, settings): sizes_of(runs, setting, value) for setting in settings}
        return found if len(found) > 1 else next(iter(found.values()))

    return compute


def sizes_of(runs: Runs, setting: Setting, value: Callable[[Row], float]) -> list[float]:
    """A value of one machine under EC-server with each cache size."""
    return m.series(runs, EC, [setting.changed(cache_size=size) for size in SIZES], value)


def _name(setting: Setting, among: Sequence[Setting]) -> str:
    """The property that distinguishes a setting: processors, block size or scheduling."""
    if len({other.processors for other in among}) > 1:
        return f"{setting.processors} processors"
    if len({other.block_size for other in among}) > 1:
        return f"{setting.block_size} B"
    return setting.scheduler


def all_rise(value: Any) -> bool:
    """Whether one series, or several by name, rise."""
    listed = value.values() if isinstance(value, dict) else [value]
    return all(rises(series) for series in listed)


def all_fall(value: Any) -> bool:
    """Whether one series, or several by name, fall."""
    listed = value.values() if isinstance(value, dict) else [value]
    return all(falls(series) for series in listed)


def scales_to(published: float) -> Callable[[Any], bool]:
    """Whether a scalability is within a tenth of the published one, or next to it."""
    return lambda value: abs(value - published) < STEP or about(published)(value)


EXTENSION = "With private_kernel=yes: "
"""The beginning of claims about PSCR's extension."""


def under_both(claim: Claim) -> tuple[Claim, Claim]:
    """A claim about PSCR, and the same claim about its extension to the kernel's pages."""
    compute = claim.compute
    if compute is None:
        raise ValueError(f"{claim.statement}: there is nothing to compute")

    # As a prefix, so that the original claim is still found by its beginning. The paper prints no
    # numbers of the extension.
    statement = f"{EXTENSION}{claim.statement}"
    why = claim.why if isinstance(claim.why, str) else claim.why.with_numbers(_of_extension)
    of_it = replace(claim, statement=statement, compute=_of_extension(compute), why=why, own=None)
    return claim, of_it


def _of_extension(compute: Number) -> Number:
    """The same number of PSCR's extension."""

    def computed(evidence: Evidence) -> Any:
        points = extended(evidence.rows("points"))
        return compute(replace(evidence, tables={**evidence.tables, "points": points}))

    return computed


def power(
    section: str, what: str, published: float, setting: Setting, why: str | Reason = ""
) -> Claim:
    """A claim that a machine has a power, which holds within a tenth."""
    return Claim(
        section,
        what,
        f"{published}",
        "global system power",
        at(setting, m.gsp),
        about(published),
        why=why or FASTER,
    )


def bus_use(
    section: str, what: str, percent: int, setting: Setting, why: str | Reason = ""
) -> Claim:
    """A claim about bus utilisation, which holds within five points."""
    return Claim(
        section,
        what,
        f"{percent} %",
        "share of cycles for which the bus is held",
        at(setting, m.bus),
        points(percent / 100),
        "%",
        why=why or FASTER,
    )


def bus_use_of(power: float, miss_rate: float, held: float) -> float:
    """The share of time for which misses hold the bus, for these cycles each.

    Source: section 4 and table 4: a reference takes 2 cycles, so that processors of this power make
    half as many references a cycle; the miss rate is in percent.

    >>> round(bus_use_of(7, 0.39, 40), 3)
    0.546
    """
    return power / 2 * miss_rate / 100 * held


def held_for(power: float, miss_rate: float, use: float) -> float:
    """The cycles for which each miss holds the bus, if only misses do.

    >>> round(held_for(5.6, 1.1, 0.71), 1), round(held_for(7, 0.39, 0.43), 1)
    (23.1, 31.5)
    """
    return use / bus_use_of(power, miss_rate, 1)


def invalidation_part(
    section: str, what: str, percent: int, setting: Setting, why: str | Reason
) -> Claim:
    """A claim about the share of invalidation misses, by the rule for its size."""
    part = percent / 100
    return Claim(
        section,
        what,
        f"{percent} %",
        "share of all misses",
        at(setting, m.invalidation_share),
        about(part) if percent < TEN else points(part),
        "%",
        why=why,
    )


def scalable(
    section: str, what: str, published: int, base: Setting, why: str | Reason = ""
) -> Claim:
    """A claim about the number of processors up to which a machine scales."""
    claim = Claim(
        section,
        what,
        f"{published}",
        "critical point, of the numbers of processors simulated",
        lambda e: m.scalability(ours(e), EC, base)[0],
        scales_to(published),
        why=why or FASTER,
        post_hoc="within two processors, which is half of four",
    )
    return at_scalability(claim, base, "processors_max")


def scalable_power(
    section: str, what: str, published: float, base: Setting, why: str | Reason = ""
) -> Claim:
    """A claim that a machine has a power at its scalability."""
    claim = Claim(
        section,
        what,
        f"{published}",
        "power at the critical point",
        lambda e: m.scalability(ours(e), EC, base)[1],
        about(published),
        why=why or FASTER,
    )
    return at_scalability(claim, base, "gsp_max")

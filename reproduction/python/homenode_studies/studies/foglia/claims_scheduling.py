"""Claims about scheduling by cache affinity."""

from collections.abc import Callable
from itertools import pairwise

from homenode_studies.studies.claims import Claim, between, empty, less_than, more_than
from homenode_studies.studies.foglia import EC
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.judging import (
    ANY_DIFFERENCE,
    HIGHER,
    bus_use,
    invalidation_part,
    power,
    scalable,
    scalable_power,
    sizes_of,
)
from homenode_studies.studies.foglia.matrix import AFFINE, MANY, SIZES, Setting
from homenode_studies.studies.foglia.reasons import evicted, in_proportion, of
from homenode_studies.studies.foglia.runs import ours
from homenode_studies.studies.reasons import Reason
from homenode_studies.studies.tables import Evidence, Row

_STAY = "checked: processes that share data also stay on their processors, even without a kernel"


def affine(evidence: Evidence, value: Callable[[Row], float]) -> list[float]:
    """A value with affinity over that at random, with each cache size."""
    runs = ours(evidence)
    pairs = zip(sizes_of(runs, AFFINE, value), sizes_of(runs, Setting(), value), strict=True)
    return [m.over(one, other, "such events") for one, other in pairs]


def reduced(evidence: Evidence) -> float:
    """The share of passive sharing in the coherence transactions that affinity saves, 2 MB."""
    runs = ours(evidence)
    before, after = runs.at(EC, Setting()), runs.at(EC, AFFINE)
    passive = m.coherence(before, "passive") - m.coherence(after, "passive")
    return m.part_of(passive, m.coherence(before) - m.coherence(after), "transactions saved")


def active(row: Row) -> float:
    """Coherence transactions of true and false sharing for 100 references."""
    return m.coherence(row, "true", "false")


def gain(evidence: Evidence) -> dict[str, float]:
    """The gain in power from affinity, by the number of processors."""
    runs = ours(evidence)
    found = {}
    for n in MANY:
        base = Setting(processors=n)
        affinity = m.gsp(runs.at(EC, base.changed(scheduler="affinity")))
        found[f"{n} processors"] = affinity / m.gsp(runs.at(EC, base)) - 1
    return found


def _use(row: Row) -> float:
    return 100 * m.bus(row)


def flattening(evidence: Evidence) -> list[float]:
    """The share of misses saved by each doubling of the cache, with affinity."""
    rates = sizes_of(ours(evidence), AFFINE, m.misses)
    return [1 - after / before for before, after in pairwise(rates)]


CLAIMS = (
    Claim(
        "5.2",
        "Affinity makes processes migrate less",
        "reduces",
        "migrations with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.migrations),
        less_than(1),
    ),
    Claim(
        "5.2.1",
        "Affinity gives more power",
        "increases",
        "power with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.gsp),
        HIGHER,
        why="checked: it does without the kernel (users), much of whose data belongs to no process",
        post_hoc=ANY_DIFFERENCE,
    ),
    Claim(
        "5.2.1",
        "Affinity reduces the load on the bus",
        "lower",
        "bus utilisation with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.bus),
        less_than(1),
        why="checked: it does without the kernel (users), much of whose data belongs to no process",
    ),
    Claim(
        "5.2.1",
        "Affinity has fewer other misses",
        "reduction",
        "other misses with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.others),
        less_than(1),
    ),
    Claim(
        "5.2.1",
        "Invalidation misses are a larger part of all misses with affinity",
        "higher",
        "share of invalidation misses with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.invalidation_share),
        more_than(1),
        why="checked: it does without the kernel (users), much of whose data belongs to no process",
    ),
    Claim(
        "5.2.1",
        "Coherence transactions are fewer with affinity",
        "lower",
        "with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.coherence),
        less_than(1),
    ),
    Claim(
        "5.2.1",
        "Affinity has fewer transactions of passive sharing",
        "reduction",
        "passive transactions with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, lambda row: m.coherence(row, "passive")),
        less_than(1),
    ),
    Claim(
        "5.2.1",
        "Affinity mainly saves passive sharing",
        "mainly",
        "its share of the transactions saved, 2 MB",
        reduced,
        more_than(0.5),
        "%",
    ),
    Claim(
        "5.2.1",
        "Transactions of true and false sharing do not change",
        "constant",
        "with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, active),
        between(0.9, 1.1),
        why=_STAY,
    ),
    Claim(
        "5.2.1",
        "Affinity makes no substantial difference to the invalidation misses",
        "no substantial difference",
        "with affinity over random, 128 KB to 2 MB",
        lambda e: affine(e, m.invalidations),
        between(0.9, 1.1),
        why=_STAY,
    ),
    invalidation_part(
        "5.2.1",
        "Half of the misses with affinity and 2 MB are invalidation misses",
        50,
        AFFINE,
        in_proportion(),
    ),
    Claim(
        "5.2.1",
        "From 1 to 2 MB the misses with affinity hardly decrease",
        "flattening",
        "share of misses saved by each doubling from 128 KB to 2 MB",
        flattening,
        lambda found: found[-1] < 0.1 and found[-1] <= min(found),
        "%",
        why=evicted(AFFINE),
    ),
    power(
        "5.2.1",
        "Eight processors with affinity and 128-byte blocks have a power of 7.4",
        7.4,
        AFFINE,
    ),
    bus_use("5.2.1", "They use the bus for 32 %", 32, AFFINE),
    scalable("5.2.1", "They let a machine scale to 14 processors", 14, AFFINE),
    scalable_power("5.2.1", "which have a power of 11.3", 11.3, AFFINE),
    Claim(
        "6",
        "Affinity gains less if there are hardly more processes than processors",
        "not so effective",
        "gain in power from affinity under MESI, 26 processes",
        gain,
        lambda found: found["16 processors"] < found["8 processors"],
        "%",
        why=Reason(
            "checked: the savings of affinity are worth more if the bus is loaded: more with a bus "
            "that fetches hold (held), less without the kernel (users); here the bus is in use for "
            "{use:.0f} % with 8, 12 and 16 processors at random",
            {"use": lambda e: [of(Setting(processors=n), _use)(e) for n in MANY]},
        ),
    ),
    Claim(
        "7",
        "Affinity does not eliminate migrations",
        "cannot",
        "cache sizes with no migrations under affinity",
        lambda e: [
            f"{size >> 10} KB"
            for size, value in zip(SIZES, sizes_of(ours(e), AFFINE, m.migrations), strict=True)
            if value == 0
        ],
        empty,
    ),
)
"""Claims of sections 5.2, 5.2.1, 6 and 7, with figures 11 to 13."""

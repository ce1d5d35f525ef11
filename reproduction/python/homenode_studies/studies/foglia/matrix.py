"""The simulations: every configuration that a table, a figure or a claim needs, once.

Source: Foglia, Giorgi and Prete 2004, section 5; the comments name the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.options.specs import unique
from homenode_studies.studies.foglia import EC
from homenode_studies.studies.settings import SettingFields

KIB, MIB = 1 << 10, 1 << 20
SIZES = (128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB)
"""Section 5.1.1: between 128 Kbytes and 2 Mbytes."""
BLOCKS = (32, 64, 128, 256)
LARGE_BLOCKS = (512, 1024)
"""Section 5.1.3: the critical block size of false sharing is 1024."""
WAYS = (1, 2, 4)
FEWEST = (1, 2)
FEW = (4, 8)
MANY = (8, 12, 16)
PROTOCOLS = ("mesi", "amsd", "pscr")
SCHEDULERS = ("random", "affinity")
EXTENDED = "pscr:private_kernel=yes"
OTHERS = (EXTENDED, "moesi", "dragon")
"""Protocols beyond the paper's figures: the extension of sections 2 and 5.2.2, and two others."""


@dataclass(frozen=True)
class Setting(SettingFields):
    """One configuration of the machine; the defaults are the baseline of section 5.2.1."""

    protocol: str = "mesi"
    processors: int = 8
    cache_size: int = 2 * MIB
    block_size: int = 128
    associativity: int = 2
    scheduler: str = "random"


SMALL_BLOCKS = Setting(block_size=32)
"""The configuration of sections 5.1.1 and 5.1.2, except the number of processors."""
AFFINE = Setting(scheduler="affinity")
SERVER = Setting(processors=16, scheduler="affinity")
"""The machine of figures 19 to 22."""

CURVES: tuple[tuple[str, Setting], ...] = (
    ("MESI, random, 32 B, 128 KB", SMALL_BLOCKS.changed(cache_size=128 * KIB)),
    ("MESI, random, 32 B", SMALL_BLOCKS),
    ("MESI, random, 256 B", Setting(block_size=256)),
    ("MESI, affinity, 128 B", AFFINE),
    ("PSCR, affinity, 128 B", AFFINE.changed(protocol="pscr")),
    ("PSCR+kernel, affinity, 128 B", AFFINE.changed(protocol=EXTENDED)),
)
"""The machines whose scalability table 5 and section 5.1.1 give, and PSCR with its extension."""


def counts(quick: bool) -> Sequence[int]:
    """The numbers of processors for the scalability."""
    return (4, 8, 12, 16, 20, 24) if quick else range(4, 25, 2)


def curve(base: Setting, quick: bool) -> list[Setting]:
    """One machine with more and more processors.

    Below the four of the smallest critical point of the paper there are others, so that ours can
    be smaller.
    """
    below = FEWEST if base.cache_size == SIZES[0] else ()
    return [base.changed(processors=n) for n in (*below, *counts(quick))]


def wanted(workload: str, quick: bool) -> list[Setting]:
    """All simulations of a workload, each once."""
    if workload != EC:
        # Figures 19 to 22, and the comparison with other protocols.
        return [SERVER.changed(protocol=p) for p in (*PROTOCOLS, *OTHERS)]
    found = [SMALL_BLOCKS.changed(processors=n, cache_size=s) for n in FEW for s in SIZES]  # 2 to 6
    found += [Setting(cache_size=s, block_size=b) for s in SIZES for b in BLOCKS]  # 7 to 10
    found += [Setting(block_size=b) for b in LARGE_BLOCKS]  # section 5.1.3
    found += [Setting(cache_size=s, scheduler=p) for s in SIZES for p in SCHEDULERS]  # 11 to 13
    found += matrix_of_protocols()
    found += [SERVER.changed(protocol=p, processors=n) for p in OTHERS for n in (8, 16)]
    found += [  # section 5.1.1: "increases with cache size and associativity"
        SMALL_BLOCKS.changed(processors=4, cache_size=s, associativity=w)
        for s in (SIZES[0], SIZES[-1])
        for w in WAYS
    ]
    for _, base in CURVES:
        found += curve(base, quick)
    return unique(found)


def matrix_of_protocols() -> list[Setting]:
    """Figures 14 to 18, in their order, and the extension of PSCR."""
    return [
        Setting(protocol=protocol, processors=n, scheduler=scheduler)
        for n in MANY
        for scheduler in SCHEDULERS
        for protocol in (*PROTOCOLS, EXTENDED)
    ]

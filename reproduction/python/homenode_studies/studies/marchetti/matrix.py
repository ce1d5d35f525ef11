"""The simulations: every configuration that a table, a figure or a claim needs, once.

Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, section 4; comments name the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from homenode.options.specs import unique
from homenode_studies.studies.marchetti import HARDWARE, MGRID, ONE_TRIP, SOFTWARE
from homenode_studies.studies.settings import SettingFields

KIB = 1 << 10
WITHOUT, WITH = "round-robin", "first-use"
"""Homes without and with the paper's placement."""
FILLS = "first-fill:n=4"
"""The policy with extra hardware of section 3.2; the paper does not give the number of fills."""
STATIC, OPTIMUM = "best-static", "optimal-static"
HOMES = (WITHOUT, "random", "first-touch", WITH, FILLS, STATIC, OPTIMUM)
ALLOCATOR = "allocator"
"""Homes as on Alewife, which the introduction names."""
BLOCKS = (16, 32, 64, 128, 256)
"""Figure 4."""
NONE = "none"
REPLICATIONS = (
    "time:n=100000",
    "counter:n=16",
    "counter:n=64",
    "counter-interrupt:n=64",
)
"""Section 4.2; the paper does not give its numbers n."""
MESH, ONE_WORD = "dash-mesh", "one-word-mesh"
TWO_CYCLES = "two-cycle-mesh"
"""The mesh if a flit of 16 bits occupies a link for two cycles: table 1 has widths and latencies of
links, and no bandwidth. Both readings are reported."""


@dataclass(frozen=True)
class Setting(SettingFields):
    """One configuration; the defaults are the paper's hardware without placement.

    Attributes:
        machine: ``dash-mesh``, or the file of that name beside this one.
        protocol: coherence of hardware or software.
        home: policy of homes.
        replication: of pages, in software.
        cache_size: bytes in each cache.
        block_size: bytes in a block.
        associativity: blocks in a set.
        contention: where messages contend.
        phase_change: whether pages move again at marks of phases.
        counted: whether instructions without a reference take time.
    """

    machine: str = MESH
    protocol: str = HARDWARE
    home: str = WITHOUT
    replication: str = NONE
    cache_size: int = 16 * KIB
    block_size: int = 64
    associativity: int = 1
    contention: str = "ends"
    phase_change: bool = False
    counted: bool = True


def pair(base: Setting) -> list[Setting]:
    """A machine without and with placement."""
    return [base.changed(home=WITHOUT), base.changed(home=WITH)]


PAPER_CASE = Setting()
PHASES = Setting(home=WITH, phase_change=True)
"""Section 4.2: mgrid with its two lines."""
VARIATIONS: dict[str, Setting] = {
    "as it is": PAPER_CASE,
    "4-way caches": Setting(associativity=4),
    "64 KB caches": Setting(cache_size=64 * KIB),
    "1 MB caches": Setting(cache_size=1024 * KIB),
    "no contention": Setting(contention="none"),
    "16 bits per 2 cycles": Setting(machine=TWO_CYCLES),
    "only references": Setting(counted=False),
}
"""Machines with other values of parameters that the paper does not give."""
LARGE = VARIATIONS["1 MB caches"]


def wanted(program: str, protocols: Sequence[str], *, quick: bool) -> list[Setting]:
    """All simulations of a program, each once."""
    found = [PAPER_CASE.changed(home=home) for home in HOMES]  # figures 1 to 3, and beyond
    for block in BLOCKS:  # figure 4
        found += pair(PAPER_CASE.changed(block_size=block))
    if program == MGRID:
        found.append(PHASES)
    if not quick:
        found += pair(LARGE)  # the conclusion
        for variation in VARIATIONS.values():
            found += pair(variation)
    if SOFTWARE in protocols:
        found += _in_software(program, quick=quick)
    return unique(found)


def of_version(protocols: Sequence[str]) -> list[Setting]:
    """The simulations of another version of a program: figures 1 to 3."""
    return [s for protocol in protocols for s in pair(PAPER_CASE.changed(protocol=protocol))]


def of_experiments(protocols: Sequence[str]) -> list[Setting]:
    """What the paper names without measuring, and releases of one trip: evidence of no claim."""
    one_trip = pair(PAPER_CASE.changed(protocol=ONE_TRIP)) if SOFTWARE in protocols else []
    return [PAPER_CASE.changed(home=ALLOCATOR), *one_trip]


def _in_software(program: str, *, quick: bool) -> list[Setting]:
    """Figures 1 to 3 and 5 for coherence in software."""
    base = PAPER_CASE.changed(protocol=SOFTWARE)
    found = [*pair(base), base.changed(home=FILLS)]
    for block in BLOCKS:  # footnote 2
        found += pair(base.changed(block_size=block))
    if not quick:
        found += pair(base.changed(machine=TWO_CYCLES))
    if program == MGRID:
        found.append(base.changed(home=WITH, phase_change=True))
    fast = base.changed(machine=ONE_WORD, home=WITH)
    return [*found, *(fast.changed(replication=kind) for kind in (NONE, *REPLICATIONS))]


@dataclass(frozen=True)
class Batch:
    """Settings that one pass over the trace simulates: combinations of homes and block sizes."""

    base: Setting
    homes: tuple[str, ...]
    blocks: tuple[int, ...]
    replication: str

    def settings(self) -> list[Setting]:
        """The settings, in the order of the engine's rows."""
        return [
            self.base.changed(home=home, block_size=block, replication=self.replication)
            for home in self.homes
            for block in self.blocks
        ]


def batches(settings: Sequence[Setting]) -> list[Batch]:
    """A small number of batches with exactly these settings."""
    homes: dict[tuple[Setting, int], list[str]] = {}
    for setting in settings:
        base = setting.changed(home="", block_size=0)
        homes.setdefault((base, setting.block_size), []).append(setting.home)
    blocks: dict[tuple[Setting, tuple[str, ...]], list[int]] = {}
    for (base, block), listed in homes.items():
        blocks.setdefault((base, tuple(listed)), []).append(block)
    return [
        Batch(base, listed, tuple(sizes), base.replication)
        for (base, listed), sizes in blocks.items()
    ]

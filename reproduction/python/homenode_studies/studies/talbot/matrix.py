"""The simulations: every configuration that a table, a figure or a claim needs, once.

Source: Talbot and Kelly 2000, sections 1.4 and 1.5; comments name figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from homenode_studies.studies.settings import SettingFields
from homenode_studies.studies.talbot import ALITE, GE

FIRST, ROUND = "first-use", "round-robin"
HOMES = (FIRST, ROUND)
NONE, BASIC, REACTIVE = "none", "basic", "reactive"
INFINITE, FINITE = "infinite", "8"
"""Section 1.4: eight read requests."""
CLUSTERS = ("1", "2", "4", "8")
"""In addition to the paper's three."""
LENGTHS = ("2", FINITE, "32")
"""Lengths of queues: the paper's eight, shorter and longer ones."""
SLOWER = ("alite-slow-4", "alite-slow-16")
"""Networks that take four and sixteen times as long as the paper's."""
MESH = "alite-marchetti"
"""The machine with the caches and latencies of part I's mesh."""
FILLS, BEST = "first-fill:n=4", "best-static"
"""Homes of part I in addition to the paper's two: after more fills, and with hindsight."""
UNALLOCATED, SEPARATE, FAIR = "allocate=no", "allocate=separate:bytes=65536", "fair=yes"
USUAL = 64
"""Nodes beyond the paper, if their number is not varied."""
TOGETHER = 256
"""Nodes with 4 MB of cache for which four machines fit into memory together."""
AS_RECORDED = 0
"""Nodes of a program in the paper's size: its number of threads."""
UNCHANGED = ""


@dataclass(frozen=True)
class Setting(SettingFields):
    """One configuration; the defaults are first touch without proxies and with finite buffers.

    Attributes:
        home: policy of homes.
        proxies: none, basic or reactive.
        buffers: read requests that a queue may hold before it rejects further ones.
        dial: the difference of proxies from the paper's, such as ``allocate=no``; empty if none.
        machine: ``alite``, or the file of that name beside this one.
        nodes: nodes, with a thread each, of a run beyond the paper; 0 for the paper's own.
    """

    home: str = FIRST
    proxies: str = NONE
    buffers: str = FINITE
    dial: str = UNCHANGED
    machine: str = ALITE
    nodes: int = AS_RECORDED


KINDS = {INFINITE: (NONE, BASIC), FINITE: (NONE, BASIC, REACTIVE)}
"""Proxies in figures 1.5 to 1.7 and in figures 1.8 to 1.10: reactive ones need full buffers."""


@dataclass(frozen=True)
class Batch:
    """Settings that one pass over a trace simulates: all homes, proxies and buffers together."""

    base: Setting
    homes: tuple[str, ...] = HOMES
    kinds: tuple[str, ...] = (NONE, REACTIVE)
    lengths: tuple[str, ...] = (FINITE,)

    def settings(self) -> list[Setting]:
        """All of them."""
        return [
            self.base.changed(home=home, proxies=kind, buffers=length)
            for home, kind, length in product(self.homes, self.kinds, self.lengths)
        ]


FIGURES = tuple(
    Batch(Setting(), kinds=kinds, lengths=(buffers,)) for buffers, kinds in KINDS.items()
)
"""Figures 1.5 to 1.10 and table 1.4."""


def of_nodes(base: Setting) -> list[Batch]:
    """Both homes with and without reactive proxies: together, if all their caches fit into memory.

    >>> [len(of_nodes(Setting(nodes=count))) for count in (256, 1024)]
    [1, 4]
    """
    if base.nodes <= TOGETHER:
        return [Batch(base)]
    return [Batch(base, (home,), (kind,)) for home in HOMES for kind in (NONE, REACTIVE)]


def beyond(program: str, nodes: Sequence[int]) -> list[Batch]:
    """Settings for the paper's open questions, for a program."""
    base, kinds = Setting(nodes=USUAL), (BASIC, REACTIVE)
    found = [Batch(base, lengths=LENGTHS)]
    found += [Batch(base.changed(machine=machine)) for machine in (*SLOWER, MESH)]
    found.append(Batch(base, homes=(FILLS, BEST)))
    for count in nodes:
        found += of_nodes(base.changed(nodes=count))
    dials = [UNCHANGED, UNALLOCATED, SEPARATE, FAIR]
    if program == GE:
        dials += [f"clusters={count}" for count in CLUSTERS]
    return [*found, *(Batch(base.changed(dial=dial), (FIRST,), kinds) for dial in dials)]


def wanted(program: str, nodes: Sequence[int], *, quick: bool) -> list[Batch]:
    """All simulations of a program."""
    return [*FIGURES, *(() if quick else beyond(program, nodes))]

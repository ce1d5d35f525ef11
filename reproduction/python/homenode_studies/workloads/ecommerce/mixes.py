"""The three mixes of the paper, and the sizes of their recordings."""

from dataclasses import dataclass, field

from homenode.options import named
from homenode_studies.workloads.ecommerce.database import Scale
from homenode_studies.workloads.ecommerce.needs import Found

__all__ = ["BROWSERS", "REFERENCES", "TABLE", "UTILITIES", "WORKERS", "Mix", "Plan", "find"]

BROWSERS = 20
"""Emulated browsers (section 3)."""

WORKERS = 8
"""Processes that make pages, which are not part of the mixes, each with a connection to the
database: as many as there are PostgreSQL processes in the paper's electronic shop (section 4)."""

REFERENCES = 130_000_000
"""References of a mix, including fetches (section 4)."""

UTILITIES = ("ls", "awk", "cp", "gzip", "rm")
"""The five commands (section 3, table 1)."""


@dataclass(frozen=True)
class Mix:
    """A mix: 26 processes that are recorded together.

    children: children of Apache in the guest; 0 for none.
    spare: least number of the guest's references per reference of the mix.
    """

    name: str
    summary: str
    processes: tuple[tuple[str, int], ...]
    children: int
    spare: float

    @property
    def selection(self) -> str:
        """The argument of ``homenode transform processes --processes``.

        >>> find("ec").selection
        'apache2=13,postgres=8,ls,awk,cp,gzip,rm'
        """
        return ",".join(name if many == 1 else f"{name}={many}" for name, many in self.processes)

    def describe(self) -> dict[str, object]:
        """The entry as plain data, for lists and JSON."""
        return {"name": self.name, "summary": self.summary, "processes": dict(self.processes)}


_FIVE = tuple((name, 1) for name in UTILITIES)

TABLE = (
    Mix(
        "ec",
        "the whole shop on one machine: web server, database and utilities",
        (("apache2", 13), ("postgres", WORKERS), *_FIVE),
        children=13,
        spare=2.4,
    ),
    Mix(
        "db",
        "the database's machine: 21 connections, with the queries of all pages, and utilities",
        (("postgres", 21), *_FIVE),
        children=0,
        spare=1.4,
    ),
    Mix(
        "web",
        "the web server's machine: Apache with pages and pictures",
        (("apache2", 26),),
        children=26,
        spare=7.5,
    ),
)
"""Every mix, in the paper's order (section 4)."""


def find(name: str) -> Mix:
    """The mix of this name.

    Raises:
        ConfigError: when there is none.
    """
    return named.find("mix", TABLE, name)


@dataclass(frozen=True)
class Plan:
    """One recording.

    references: the least number of references in the recording of the system, including fetches.
    transactions: transactions of the mix with only the database; all if none is named.
    """

    mix: Mix
    references: int
    seed: int = 1
    scale: Scale = field(default_factory=Scale)
    transactions: tuple[str, ...] = ()

    def settings(self, found: Found) -> dict[str, object]:
        """The settings that the guest's first process reads."""
        return {
            "MIX": self.mix.name,
            "POSTGRES": found.postgres,
            "BROWSERS": BROWSERS,
            "SEED": self.seed,
            "ITEMS": self.scale.items,
            "CUSTOMERS": self.scale.customers,
            "CHILDREN": self.mix.children,
            "WARM_UP": 5,
            # Seconds per million instructions of each utility, counted or estimated.
            "BEGINNING": 0.03 if found.counting else 0.15,
            # At most 7 of 10 references are fetches, and an instruction takes a nanosecond. If
            # instructions are not counted, the host signals when there are enough.
            "LENGTH": f"{self.references * 0.7e-9:.3f}" if found.counting else 86400,
            # An upper bound, by the shortest rounds, those of rm: before and during the recording.
            "ROUNDS": 60 + self.references // 6_000_000,
        }

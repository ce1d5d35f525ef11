"""`Result`: the outcomes of a simulation, for people and for data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.results.rows import Rows, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from homenode.engines.page_use import PageUse

OPTIMA = ("optimal", "optimal-no-replication")
_KEYS = ("trace", "machine", "policy", "block_size", "processors", "references", "accesses")


class Result(Rows):
    """The outcomes of one or several simulations.

    Attributes:
        rows: one dictionary an outcome, with exactly the fields that ``homenode simulate --json``
            prints: trace, machine, policy, block_size, processors, references, accesses, counts,
            cost, total_cost, mcpr (mean cost per reference, in units of a local reference); where
            prices are in nanoseconds also total_ns; on a
            page-coherence machine also latency (cycles a reference), packets, traffic (packets a
            reference) and mls (copies that a multicast updates); where data are re-aligned also
            realignment, what that did at the block size.
        configuration: the options of the call.
        provenance: what the outcomes depend on: trace checksum, version, every policy with the
            value of every parameter, prices of every machine at every block size, and notes.
        scalability: of a `BusResult`; else empty.
        uses: of a `DirectoryResult`; else empty.

    The flat columns are the keys, the counts by name, and ``cost_NAME``; with page-coherence
    machines also ``latency_NAME``, ``packets_NAME``, ``traffic_NAME`` and mls, and with
    re-alignment ``realign_NAME``; behind caches ``filter_NAME``.

    Source: Bolosky, thesis, section 5.1 (mean cost per reference as the yardstick).
    """

    scalability: Sequence[dict[str, Any]] = ()
    uses: Sequence[PageUse] = ()

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        return flatten(row)

    @property
    def realignments(self) -> dict[int, dict[str, Any]]:
        """What re-alignment did at each block size; nothing where data are as they were."""
        return {row["block_size"]: row["realignment"] for row in self if "realignment" in row}

    def over_optimum(self) -> list[float | None]:
        """Cost of each outcome divided by the least any policy could pay, at the same point.

        Returns:
            One number a row, ``None`` where the optimum was not simulated or a cost is infinite.
        """
        best = {_point(row): row["total_cost"] for row in self.rows if row["policy"] == OPTIMA[0]}
        return [ratio_of(row["total_cost"], best.get(_point(row))) for row in self.rows]

    def plot(self, machine: str | None = None) -> Figure:
        """Draws MCPR against block size, one panel a machine, one line a policy.

        Args:
            machine: only this machine.

        Raises:
            ConfigError: when there is nothing to draw, or matplotlib is missing (``pip install
                'homenode[plot]'``).
        """
        from homenode.results.plot import mcpr_against_block_size

        return mcpr_against_block_size(self, machine)


def flatten(row: dict[str, Any]) -> dict[str, Any]:
    """An outcome without dictionaries in it."""
    found = {name: row[name] for name in _KEYS if name in row}
    found |= row.get("counts", {}) | flat(row.get("cost", {}), "cost_")
    found |= {name: row.get(name) for name in ("total_cost", "mcpr")}
    if "total_ns" in row:
        found["total_ns"] = row["total_ns"]
    for part in ("latency", "packets", "traffic"):
        found |= flat(row.get(part, {}), f"{part}_")
    if "mls" in row:
        found["mls"] = row["mls"]
    found |= flat(row.get("cache_filter", {}), "filter_")
    return found | _flat_realignment(row.get("realignment", {}))


def _flat_realignment(report: dict[str, Any]) -> dict[str, Any]:
    """What re-alignment did, without the objects and without the page size, the block's."""
    left_out = ("page_size", "objects")
    return flat({k: v for k, v in report.items() if k not in left_out}, "realign_")


def _point(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["trace"], row["machine"], row["block_size"], row["processors"]


def ratio_of(cost: float | None, best: float | None) -> float | None:
    """A cost divided by the least possible one; None where either is infinite or unknown."""
    if cost is None or not best:
        return None
    return cost / best

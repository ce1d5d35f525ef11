"""`optimal`: the cheapest placement there is, in detail."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.engines.placement import configuration, refuse_latencies
from homenode.errors import of_extra
from homenode.files import check_output, replacing_name
from homenode.options.checked import checked, part_of
from homenode.options.documented import documented
from homenode.options.values import specs_of
from homenode.results.result import flatten
from homenode.results.rows import Rows
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    import pandas as pd

    from homenode.options.typed import OptimalOptions


class OptimalResult(Rows):
    """The off-line optimum on every machine at every block size.

    Attributes:
        rows: one dictionary a point, with exactly the fields that ``homenode optimal --json``
            prints: those of a simulation, and ``moves_per_block``, ``certificate`` and ``curve``
            (``None`` without the option).
        configuration: the options of the call.
        provenance: everything that the rows depend on: trace, options, version.
    """

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        blocks = row["moves_per_block"]
        spread = {f"moves_per_block_{name}": blocks[name] for name in ("mean", "max")}
        return flatten(row) | {"blocks": blocks["blocks"]} | spread

    @property
    def certified(self) -> bool:
        """Whether every placement was replayed and none failed."""
        found = [row["certificate"] for row in self.rows]
        return bool(found) and all(c is not None and c["failed"] == 0 for c in found)

    def curves(self) -> pd.DataFrame:
        """One row a piece of a curve: machine, policy, block_size, and the piece's fields.

        Raises:
            ConfigError: when pandas is missing (``pip install 'homenode[pandas]'``).
        """
        with of_extra("pandas", "pandas"):
            import pandas as pd

        names = ("machine", "policy", "block_size")
        pieces = []
        for row in self.rows:
            for piece in (row["curve"] or {"pieces": []})["pieces"]:
                flat = {name: piece[name] for name in piece if name != "counts"}
                pieces.append({name: row[name] for name in names} | flat | piece["counts"])
        return pd.DataFrame(pieces)


@documented("optimal")
def optimal(
    trace: Trace | str | os.PathLike[str],
    machines: str | Iterable[str],
    block_sizes: str | int | Iterable[int],
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[OptimalOptions],
) -> OptimalResult:
    """Finds the cheapest placement there is, with hindsight, on every machine and block size.

    Args:
        trace: a `Trace` or the path of one.
        machines: names from ``homenode.table("machines")``, TOML files, or prices in place such as
            ``prices:r=15,R=59,g=4,G=40`` (units: one local reference; ``inf`` is infinite).
        block_sizes: bytes, powers of two; or text such as ``64-8192`` or ``64,4K``.
        progress: called with the work done and in all.
        options: see `OptimalOptions`, and `SimulateOptions`.

    Returns:
        One row for each combination, in the order machine, block size.

    Raises:
        ConfigError: when a machine, block size, interval or option cannot be used.
        TraceError: when the trace is damaged.
        OSError: when the placement cannot be written.

    Source: Bolosky, thesis, section 4.2; beyond it as in docs/optimal.md.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(
    ...     thread=[0, 1, 1, 1, 0], kind=["W", "R", "R", "R", "W"], address=64)
    >>> found = hn.optimal(trace, "prices:r=15,R=40", 64, curve="R=31..90", certify=True)
    >>> found.rows[0]["total_cost"], found.certified
    (33, True)
    >>> [(p["exact_from"], p["exact_to"], p["slope"]) for p in found.rows[0]["curve"]["pieces"]]
    [('31', '90', 0)]
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    refuse_latencies(specs_of(machines, "machine"))
    own = checked("optimal", options, "replication", "curve", "certify", "placement")
    policy = "optimal" if own["replication"] else "optimal-no-replication"
    simulation = configuration(machines, policy, block_sizes, **part_of("simulate", options))
    config = {"simulation": simulation, "curve": own["curve"], "certify": own["certify"]}
    placement = own["placement"]
    if placement is not None:
        check_output(placement, opened.path)
    with nullcontext() if placement is None else replacing_name(placement) as name:
        out = None if name is None else (name, str(placement).endswith(".csv"))
        text = _core.optimal(str(opened.path), json.dumps(config), out, progress)
    found = json.loads(text)
    return OptimalResult(found["outcomes"], config, found["provenance"])

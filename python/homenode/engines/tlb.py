"""`tlb`: how often translation lookaside buffers miss, and what that costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack

from homenode import _core
from homenode.options.checked import checked
from homenode.options.declared import options_of
from homenode.options.documented import documented
from homenode.options.values import sizes_of
from homenode.results.rows import Rows
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from matplotlib.figure import Figure

    from homenode.options.typed import TlbOptions


class TlbResult(Rows):
    """Misses of every TLB at every page size.

    Attributes:
        rows: one dictionary a TLB and page size, with exactly the fields that
            ``homenode tlb --json`` prints: trace, tlb, page_size, processors, references, lookups,
            misses, miss_rate, miss_cost, and with a machine also machine, policy, mcpr and
            corrected_mcpr.
        configuration: the options of the call.
        provenance: everything that the rows depend on: trace, options, version.

    Source: Bolosky, thesis, section 6.3 (figure 6.10, figures A.17 to A.29, table 6.5).
    """

    def plot(self) -> Figure:
        """Draws misses per reference against page size, one line a TLB.

        Raises:
            ConfigError: when no TLB ever misses, or matplotlib is missing (``pip install
                'homenode[plot]'``).
        """
        from homenode.results.plot import misses_against_page_size

        return misses_against_page_size(self)


@documented("tlb")
def tlb(
    trace: Trace | str | os.PathLike[str],
    tlbs: str | Iterable[str],
    page_sizes: str | int | Iterable[int],
    *,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Unpack[TlbOptions],
) -> TlbResult:
    """Counts the misses of every TLB at every page size in one pass over the trace.

    Args:
        trace: a `Trace` or the path of one.
        tlbs: names from ``homenode.table("tlbs")``, or parameters such as
            ``entries=64,ways=4,paired=no,cost=2.5``.
        page_sizes: bytes, powers of two; or text such as ``512-8192`` or ``128,4K``.
        progress: called with the work done and in all.
        options: see `TlbOptions`.

    Returns:
        One row for each combination, in the order TLB, page size.

    Raises:
        ConfigError: when a TLB, page size, machine, policy or option cannot be used.
        TraceError: when the trace is damaged.

    Source: Bolosky, thesis, section 6.3.2.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=0, kind="R", address=[0x0, 0x1000, 0x4, 0x2000])
    >>> [row["misses"] for row in hn.tlb(trace, "ace,entries=1", 4096)]
    [3, 4]
    """
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    config = configuration(tlbs, page_sizes, **options)
    found = json.loads(_core.tlb(str(opened.path), json.dumps(config), progress))
    return TlbResult(found["outcomes"], config, found["provenance"])


def configuration(
    tlbs: str | Iterable[str],
    page_sizes: str | int | Iterable[int],
    **options: Unpack[TlbOptions],
) -> dict[str, Any]:
    """The configuration of a TLB study as the engine takes it.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    own = checked("tlb", options)
    correction = {name: own.pop(name) for name in options_of("tlb-correction")}
    return {
        "tlbs": [tlbs] if isinstance(tlbs, str) else list(tlbs),
        "page_sizes": sizes_of(page_sizes, "page size"),
        **own,
        "correct": None if correction["machine"] is None else correction,
    }

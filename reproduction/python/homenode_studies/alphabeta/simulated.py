"""Alpha from a trace: the fraction of references that the ACE's page manager makes local."""

import os
from collections.abc import Callable
from typing import Any

from homenode.engines.pmap import pmap
from homenode.trace import Trace
from homenode_studies.alphabeta.model import expected_gamma


def from_trace(
    trace: Trace | str | os.PathLike[str],
    page_size: int | str = 4096,
    *,
    limit: int = 4,
    progress: Callable[[int, int | None], None] | None = None,
) -> dict[str, Any]:
    """Alpha as simulated, over pages that the program writes at least once.

    A trace has no time between references, so beta cannot be computed. Gamma is between 1, for a
    program that hardly refers to memory, and ``gamma_most``, for one that only refers to memory
    (equation 3.2 with beta 0 and 1).

    Returns:
        ``alpha``, ``ratio`` (G/L for the trace's own mix of reads and writes on the ACE) and
        ``gamma_most``; each `None` when nothing is written.

    Source: Bolosky, thesis, sections 3.1.1, 3.1.3 and 3.2.1.

    >>> import homenode as hn
    >>> trace = hn.Trace.from_numpy(thread=[0, 1, 1], kind=["W", "R", "R"], address=[64, 64, 64])
    >>> from_trace(trace)["alpha"], from_trace(trace, limit=0)["alpha"]
    (1.0, 0.0)
    """
    report = pmap(trace, page_size, limit=limit, count=0, progress=progress)
    found = report["locality"]
    alpha, ratio = found["alpha"], found["global_to_local"]
    known = alpha is not None and ratio is not None
    return {
        "program": report["trace"],
        "page_size": report["page_size"],
        "limit": limit,
        "processors": report["processors"],
        "references_to_written_pages": found["reads"] + found["writes"],
        "alpha": alpha,
        "ratio": ratio,
        "gamma_most": expected_gamma(alpha, 1.0, ratio) if known else None,
    }

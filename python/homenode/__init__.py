"""Homenode: replay a program's memory references under any placement policy.

>>> import homenode as hn
>>> trace = hn.Trace.from_numpy(
...     thread=[0, 1, 1], kind=["W", "R", "R"], address=[0x1000, 0x1000, 0x1004])
>>> result = hn.simulate(trace, ["prices:r=15,R=59"], ["optimal", "ace"], [64])
>>> [(row["policy"], row["total_cost"]) for row in result.rows]
[('optimal', 17), ('ace', 62)]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # What is imported under two names was called otherwise before (`ALIASES`).
    from homenode._core import ConfigError, TraceError
    from homenode.catalogue import table
    from homenode.engines.advise import AdviceResult, advise
    from homenode.engines.bus import BusResult, check_protocols
    from homenode.engines.directory import DirectoryResult
    from homenode.engines.explain import Explanation, explain
    from homenode.engines.interleavings import interleavings
    from homenode.engines.lines import LineResult, lines
    from homenode.engines.live import run
    from homenode.engines.optimal import OptimalResult, optimal
    from homenode.engines.page_use import PageUse
    from homenode.engines.picture import SharingPicture, picture
    from homenode.engines.picture import picture as sharing_picture  # noqa: F401
    from homenode.engines.pmap import pmap
    from homenode.engines.pmap import pmap as manage_pages  # noqa: F401
    from homenode.engines.sensitivity import SensitivityResult, sensitivity
    from homenode.engines.sensitivity import sensitivity as order_sensitivity  # noqa: F401
    from homenode.engines.sharing import SharingResult, sharing, synthetic
    from homenode.engines.simulation import simulate
    from homenode.engines.tlb import TlbResult, tlb
    from homenode.engines.tlb import tlb as tlb_misses  # noqa: F401
    from homenode.results.result import Result
    from homenode.trace import Trace
    from homenode.trace.compacting import compact
    from homenode.trace.transforms import split, transform

    OrderResult = SensitivityResult

__all__ = [
    "AdviceResult",
    "BusResult",
    "ConfigError",
    "DirectoryResult",
    "Explanation",
    "LineResult",
    "OptimalResult",
    "PageUse",
    "Result",
    "SensitivityResult",
    "SharingPicture",
    "SharingResult",
    "TlbResult",
    "Trace",
    "TraceError",
    "__version__",
    "advise",
    "check_protocols",
    "compact",
    "explain",
    "interleavings",
    "lines",
    "optimal",
    "picture",
    "pmap",
    "run",
    "sensitivity",
    "sharing",
    "simulate",
    "split",
    "synthetic",
    "table",
    "tlb",
    "transform",
]

# Names load their module when first used, so that `homenode --help` answers at once.
_HOME = {
    "AdviceResult": "homenode.engines.advise",
    "BusResult": "homenode.engines.bus",
    "ConfigError": "homenode._core",
    "DirectoryResult": "homenode.engines.directory",
    "Explanation": "homenode.engines.explain",
    "LineResult": "homenode.engines.lines",
    "OptimalResult": "homenode.engines.optimal",
    "PageUse": "homenode.engines.page_use",
    "Result": "homenode.results.result",
    "SensitivityResult": "homenode.engines.sensitivity",
    "SharingPicture": "homenode.engines.picture",
    "SharingResult": "homenode.engines.sharing",
    "TlbResult": "homenode.engines.tlb",
    "Trace": "homenode.trace",
    "TraceError": "homenode._core",
    "advise": "homenode.engines.advise",
    "check_protocols": "homenode.engines.bus",
    "compact": "homenode.trace.compacting",
    "explain": "homenode.engines.explain",
    "interleavings": "homenode.engines.interleavings",
    "lines": "homenode.engines.lines",
    "optimal": "homenode.engines.optimal",
    "picture": "homenode.engines.picture",
    "pmap": "homenode.engines.pmap",
    "run": "homenode.engines.live",
    "sensitivity": "homenode.engines.sensitivity",
    "sharing": "homenode.engines.sharing",
    "simulate": "homenode.engines.simulation",
    "split": "homenode.trace.transforms",
    "synthetic": "homenode.engines.sharing",
    "table": "homenode.catalogue",
    "tlb": "homenode.engines.tlb",
    "transform": "homenode.trace.transforms",
}

ALIASES = {
    "OrderResult": "SensitivityResult",
    "manage_pages": "pmap",
    "order_sensitivity": "sensitivity",
    "sharing_picture": "picture",
    "tlb_misses": "tlb",
}
"""Earlier names, which still work, and what they are called now."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("homenode._core").version()
    now = ALIASES.get(name, name)
    if now in _HOME:
        return getattr(import_module(_HOME[now]), now)
    raise AttributeError(f"module 'homenode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

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
    from homenode._core import ConfigError, TraceError
    from homenode.alphabeta import alpha_beta
    from homenode.catalogue import table
    from homenode.engines.advise import AdviceResult, advise
    from homenode.engines.bus import BusResult, check_protocols, simulate_bus
    from homenode.engines.explain import Explanation, explain
    from homenode.engines.optimal import OptimalResult, optimal
    from homenode.engines.picture import SharingPicture, sharing_picture
    from homenode.engines.placement import simulate
    from homenode.engines.pmap import manage_pages
    from homenode.engines.sensitivity import OrderResult, order_sensitivity
    from homenode.engines.sharing import SharingResult, sharing, synthetic
    from homenode.engines.tlb import TlbResult, tlb_misses
    from homenode.results.result import Result
    from homenode.studies import StudyResult, study
    from homenode.trace import Trace
    from homenode.trace.transforms import split, transform

__all__ = [
    "AdviceResult",
    "BusResult",
    "ConfigError",
    "Explanation",
    "OptimalResult",
    "OrderResult",
    "Result",
    "SharingPicture",
    "SharingResult",
    "StudyResult",
    "TlbResult",
    "Trace",
    "TraceError",
    "__version__",
    "advise",
    "alpha_beta",
    "check_protocols",
    "explain",
    "manage_pages",
    "optimal",
    "order_sensitivity",
    "sharing",
    "sharing_picture",
    "simulate",
    "simulate_bus",
    "split",
    "study",
    "synthetic",
    "table",
    "tlb_misses",
    "transform",
]

# Names load their module when first used, so that `homenode --help` answers at once.
_HOME = {
    "AdviceResult": "homenode.engines.advise",
    "BusResult": "homenode.engines.bus",
    "ConfigError": "homenode._core",
    "Explanation": "homenode.engines.explain",
    "OptimalResult": "homenode.engines.optimal",
    "OrderResult": "homenode.engines.sensitivity",
    "Result": "homenode.results.result",
    "SharingPicture": "homenode.engines.picture",
    "SharingResult": "homenode.engines.sharing",
    "TlbResult": "homenode.engines.tlb",
    "Trace": "homenode.trace",
    "TraceError": "homenode._core",
    "advise": "homenode.engines.advise",
    "alpha_beta": "homenode.alphabeta",
    "check_protocols": "homenode.engines.bus",
    "explain": "homenode.engines.explain",
    "manage_pages": "homenode.engines.pmap",
    "optimal": "homenode.engines.optimal",
    "order_sensitivity": "homenode.engines.sensitivity",
    "sharing": "homenode.engines.sharing",
    "sharing_picture": "homenode.engines.picture",
    "simulate": "homenode.engines.placement",
    "simulate_bus": "homenode.engines.bus",
    "StudyResult": "homenode.studies",
    "split": "homenode.trace.transforms",
    "study": "homenode.studies",
    "synthetic": "homenode.engines.sharing",
    "table": "homenode.catalogue",
    "tlb_misses": "homenode.engines.tlb",
    "transform": "homenode.trace.transforms",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("homenode._core").version()
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'homenode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

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
    from homenode.advice import AdviceResult, advise
    from homenode.alphabeta import alpha_beta
    from homenode.bus import BusResult, check_protocols, simulate_bus
    from homenode.catalogue import table
    from homenode.explanation import Explanation, explain
    from homenode.false_sharing import SharingResult, sharing, synthetic
    from homenode.optimum import OptimalResult, optimal
    from homenode.orders import OrderResult, order_sensitivity
    from homenode.pages import manage_pages
    from homenode.picture import SharingPicture, sharing_picture
    from homenode.result import Result
    from homenode.simulation import simulate
    from homenode.studies import StudyResult, study
    from homenode.tlb import TlbResult, tlb_misses
    from homenode.trace import Trace
    from homenode.transforms import split, transform

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
    "AdviceResult": "homenode.advice",
    "BusResult": "homenode.bus",
    "ConfigError": "homenode._core",
    "Explanation": "homenode.explanation",
    "OptimalResult": "homenode.optimum",
    "OrderResult": "homenode.orders",
    "Result": "homenode.result",
    "SharingPicture": "homenode.picture",
    "SharingResult": "homenode.false_sharing",
    "TlbResult": "homenode.tlb",
    "Trace": "homenode.trace",
    "TraceError": "homenode._core",
    "advise": "homenode.advice",
    "alpha_beta": "homenode.alphabeta",
    "check_protocols": "homenode.bus",
    "explain": "homenode.explanation",
    "manage_pages": "homenode.pages",
    "optimal": "homenode.optimum",
    "order_sensitivity": "homenode.orders",
    "sharing": "homenode.false_sharing",
    "sharing_picture": "homenode.picture",
    "simulate": "homenode.simulation",
    "simulate_bus": "homenode.bus",
    "StudyResult": "homenode.studies",
    "split": "homenode.transforms",
    "study": "homenode.studies",
    "synthetic": "homenode.false_sharing",
    "table": "homenode.catalogue",
    "tlb_misses": "homenode.tlb",
    "transform": "homenode.transforms",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("homenode._core").version()
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'homenode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

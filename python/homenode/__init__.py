"""Homenode: replay a program's memory references under any placement policy.

>>> import homenode as hn
>>> trace = hn.Trace.from_numpy(
...     thread=[0, 1, 1], kind=["W", "R", "R"], address=[0x1000, 0x1000, 0x1004])
>>> result = hn.simulate(trace, ["prices:r=15,R=59"], ["optimal", "ace"], [64])
>>> [(row["policy"], row["total_cost"]) for row in result.rows]
[('optimal', 17), ('ace', 62)]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Names imported under another name are earlier names (`ALIASES`).
    from homenode._core import ConfigError as ConfigError
    from homenode._core import TraceError as TraceError
    from homenode.catalogue import table as table
    from homenode.engines.advise import AdviceResult as AdviceResult
    from homenode.engines.advise import advise as advise
    from homenode.engines.bus import BusResult as BusResult
    from homenode.engines.bus import check_protocols as check_protocols
    from homenode.engines.directory import DirectoryResult as DirectoryResult
    from homenode.engines.explain import Explanation as Explanation
    from homenode.engines.explain import explain as explain
    from homenode.engines.interleavings import interleavings as interleavings
    from homenode.engines.lines import LineResult as LineResult
    from homenode.engines.lines import lines as lines
    from homenode.engines.live import run as run
    from homenode.engines.optimal import OptimalResult as OptimalResult
    from homenode.engines.optimal import optimal as optimal
    from homenode.engines.page_use import PageUse as PageUse
    from homenode.engines.picture import SharingPicture as SharingPicture
    from homenode.engines.picture import picture as picture
    from homenode.engines.pmap import pmap as pmap
    from homenode.engines.sensitivity import SensitivityResult as SensitivityResult
    from homenode.engines.sensitivity import sensitivity as sensitivity
    from homenode.engines.servers import servers as servers
    from homenode.engines.sharing import SharingResult as SharingResult
    from homenode.engines.sharing import sharing as sharing
    from homenode.engines.sharing import synthetic as synthetic
    from homenode.engines.simulation import simulate as simulate
    from homenode.engines.tlb import TlbResult as TlbResult
    from homenode.engines.tlb import tlb as tlb
    from homenode.results.result import Result as Result
    from homenode.trace import Trace as Trace
    from homenode.trace.compacting import compact as compact
    from homenode.trace.transforms import split as split
    from homenode.trace.transforms import transform as transform

# Names load their module when first used, so that `homenode --help` answers at once.
_HOME = {
    name: f"homenode.{module}"
    for module, names in {
        "_core": "ConfigError TraceError",
        "catalogue": "table",
        "engines.advise": "AdviceResult advise",
        "engines.bus": "BusResult check_protocols",
        "engines.directory": "DirectoryResult",
        "engines.explain": "Explanation explain",
        "engines.interleavings": "interleavings",
        "engines.lines": "LineResult lines",
        "engines.live": "run",
        "engines.optimal": "OptimalResult optimal",
        "engines.page_use": "PageUse",
        "engines.picture": "SharingPicture picture",
        "engines.pmap": "pmap",
        "engines.sensitivity": "SensitivityResult sensitivity",
        "engines.servers": "servers",
        "engines.sharing": "SharingResult sharing synthetic",
        "engines.simulation": "simulate",
        "engines.tlb": "TlbResult tlb",
        "results.result": "Result",
        "trace": "Trace",
        "trace.compacting": "compact",
        "trace.transforms": "split transform",
    }.items()
    for name in names.split()
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("homenode._core").version()
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'homenode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

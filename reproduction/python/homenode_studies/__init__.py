"""Studies of publications on homenode: their programs, tables, figures, and a ledger of claims.

>>> import homenode_studies as hs
>>> [entry.name for entry in hs.workloads.TABLE][:3]
['gauss', 'sorbyr', 'sorbyc']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from homenode_studies import alphabeta, studies, workloads
    from homenode_studies.alphabeta import alpha_beta
    from homenode_studies.studies import StudyResult, study

__all__ = ["StudyResult", "alpha_beta", "alphabeta", "studies", "study", "workloads"]

# A room is imported when its name is first used: a list of workloads needs no study.
_HOME = {
    "StudyResult": "homenode_studies.studies",
    "alpha_beta": "homenode_studies.alphabeta",
    "study": "homenode_studies.studies",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in __all__:
        return import_module(f"homenode_studies.{name}")
    raise AttributeError(f"module 'homenode_studies' has no attribute {name!r}")

"""Invented points of the study of Foglia, Giorgi and Prete, and verdicts on them."""

from typing import Any

from homenode_studies.studies.claims import find
from homenode_studies.studies.foglia import measures as m
from homenode_studies.studies.foglia.claims import CLAIMS
from homenode_studies.studies.foglia.matrix import Setting
from homenode_studies.studies.tables import Evidence


def point(workload: str, setting: Setting, **columns: Any) -> dict[str, Any]:
    """A point of 1000 references, with these values only."""
    row: dict[str, Any] = {"workload": workload, **setting.fields(), "stands_for": 1}
    row |= {"references": 1000, "block_references": 1000, "gsp": 1.0, "bus_utilisation": 0.5}
    classes = ("cold", "replacement", "removal", *(f"invalidation_{kind}" for kind in m.KINDS))
    for prefix in ("", "kernel_"):
        row |= {f"{prefix}misses_{name}": 0 for name in classes}
        row |= {f"{prefix}coherence_{kind}": 0 for kind in m.KINDS}
    row |= {"migrations": 0} | {
        f"transactions_{name}": 0 for name in ("write", "invalidate", "read_invalidate_cache")
    }
    return row | columns


def judged(statement: str, points: list[dict[str, Any]]) -> str:
    """The verdict on a claim."""
    claim = next(claim for claim in CLAIMS if claim.statement == statement)
    return find(claim, Evidence({"points": points})).verdict

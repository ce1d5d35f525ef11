"""Workloads of homenode-studies as programs to record: compiled from the clone, not imported."""

from __future__ import annotations

from pathlib import Path

from homenode.demo import programs

FOLDER = Path(__file__).parents[2] / "reproduction/python/homenode_studies/workloads"


def build(name: str, out: Path) -> Path:
    """Compiles a workload so that it can be recorded."""
    own = FOLDER / f"{name}.c"
    return programs.build(own if own.exists() else programs.source(name), out, "homenode")

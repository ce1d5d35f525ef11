"""Workloads of homenode-studies as programs to record: compiled from the clone, not imported."""

from pathlib import Path

from homenode import Trace
from homenode.demo import programs

FOLDER = Path(__file__).parents[2] / "reproduction/python/homenode_studies/workloads"


def build(name: str, out: Path) -> Path:
    """Compiles a workload so that it can be recorded."""
    own = FOLDER / f"{name}.c"
    return programs.build(own if own.exists() else programs.source(name), out, "homenode")


def bands(folder: Path, size: int, iterations: int) -> Trace:
    """Records sor: 8 threads' bands of one array, whose edges neighbours read after each barrier.

    The program marks the end of its initialisation.
    """
    words = [str(build("sor", folder / "sor")), "-p", "8", "-n", str(size), "-i", str(iterations)]
    return Trace.record(words, folder / "sor.hnt", quantum=10)

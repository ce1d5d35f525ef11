"""Finds the mixes of processes for a study: in a folder, or the small ones of the package.

A mix is a trace whose threads are processes; ``homenode transform processes`` makes it from the
recording of a whole system.
"""

from pathlib import Path

from homenode.errors import ConfigError
from homenode_studies.workloads import ecommerce


def find(name: str, folder: Path | None, *, quick: bool) -> Path:
    """The trace of a mix.

    Args:
        name: such as ``ec``.
        folder: the folder of the mixes; None for those of the package.
        quick: whether small ones suffice.

    Raises:
        ConfigError: when there is none.
    """
    if folder is None and not quick:
        raise ConfigError(
            "this study needs mixes of 130 million references, which are not part of homenode: "
            "record them with homenode workloads ecommerce all -o DIR and give --mixes DIR, or use "
            "the small ones with --quick"
        )
    path = (folder or ecommerce.FOLDER) / f"{name}.hnt"
    if not path.exists():
        raise ConfigError(
            f"there is no mix {path}: --mixes must name the folder with {path.name}, which "
            "homenode workloads ecommerce all -o DIR makes"
        )
    return path

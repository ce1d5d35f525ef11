"""Where the mixes of processes are that a study takes: in a folder, or small ones of our own.

A mix is a trace whose threads are processes, made of the recording of a whole system by ``homenode
transform processes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from homenode.errors import ConfigError
from homenode_studies.workloads import ecommerce

if TYPE_CHECKING:
    from pathlib import Path


def find(name: str, folder: Path | None, *, quick: bool) -> Path:
    """The trace of a mix.

    Args:
        name: such as ``ec``.
        folder: where mixes are; nothing for those that come with homenode.
        quick: whether small ones will do.

    Raises:
        ConfigError: when there is none.
    """
    if folder is None and not quick:
        raise ConfigError(
            "this study takes mixes of 130 million references, which do not come with homenode: "
            "record them with homenode workloads ecommerce all -o DIR and say --mixes DIR, or take "
            "the small ones with --quick"
        )
    path = (folder or ecommerce.FOLDER) / f"{name}.hnt"
    if not path.exists():
        raise ConfigError(
            f"there is no mix {path}: --mixes names the folder with {path.name}, as homenode "
            "workload ecommerce all -o DIR makes it"
        )
    return path

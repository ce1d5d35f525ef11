"""How much results depend on the order in which threads ran: several orders of one program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def order_path(path: str | os.PathLike[str], quantum: int, seed: int) -> Path:
    """Where the recording with this quantum and seed goes, of several that are called `path`.

    >>> order_path("runs/t.hnt", 100, 2).as_posix()
    'runs/t.q100.s2.hnt'
    """
    whole = Path(path)
    return whole.with_name(f"{whole.stem}.q{quantum}.s{seed}{whole.suffix}")

"""Pictures of a program's sharing: who references which memory when."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from homenode import _core
from homenode.engines.placement import PRIVATE
from homenode.options.values import SYNC, choice, only_known, shape, sizes_of, whole_number
from homenode.trace import Trace

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    Progress = Callable[[int, int | None], None] | None


class PictureOptions(TypedDict, total=False):
    """Choices of a picture; what is left out has the default named here.

    stretches: most stretches of memory, side by side. Default: 120.
    slices: slices of Time, one below the other. Default: 40.
    block_size: the least that a stretch covers; it is doubled until the stretches are few enough.
        Default: 64 bytes.
    title: what stands above the picture. Default: the program and its arguments.
    processors: number of processors; thread i is processor i mod it. Default: the trace's threads.
    private: references to private memory are in the picture if ``shared``. Default: ``exclude``.
    sync: references to synchronisation variables are left out (``exclude``, default) or drawn.
    """

    stretches: int
    slices: int
    block_size: int | str
    title: str | None
    processors: int | None
    private: str
    sync: str


class SharingPicture:
    """Who references which stretch of memory in which slice of Time.

    Attributes:
        title: what stands above the picture.
        data: ``references`` in the picture; ``init_done``, how many of them belong to
            initialisation; ``map``, the stretches with reads and writes of each processor; and
            ``slices``, one list a slice of Time with a number a stretch: 0 nobody, 1 several
            processors that only read, 2 several of which one wrote, 3 + 2p processor p alone,
            reading, 4 + 2p processor p alone, writing.
    """

    def __init__(self, data: dict[str, Any], title: str) -> None:
        self.data = data
        self.title = title

    def to_dict(self) -> dict[str, Any]:
        """What ``homenode picture --json`` prints."""
        return {"title": self.title, **self.data}

    def svg(self) -> str:
        """The picture as an SVG file: memory across, Time down, colours for processors."""
        from homenode.report.picture import draw

        return draw(self.data, self.title)

    def _repr_svg_(self) -> str:
        """How a notebook shows it."""
        return self.svg()


def picture(
    trace: Trace | str | os.PathLike[str],
    *,
    progress: Progress = None,
    **options: Unpack[PictureOptions],
) -> SharingPicture:
    """Finds out who references which memory when, for a picture.

    Args:
        trace: a `Trace` or the path of one.
        progress: called with the work done and in all.
        options: see `PictureOptions`.

    Raises:
        ConfigError: when an option cannot be used.
        TraceError: when the trace is damaged.

    >>> import homenode as hn
    >>> kinds = ["W", "R", "R", "W"]
    >>> trace = hn.Trace.from_numpy(thread=[0, 1, 1, 0], kind=kinds, address=[0, 64, 0, 64])
    >>> hn.picture(trace, slices=2).data["slices"]
    [[4, 5], [5, 4]]
    """
    only_known(options, PictureOptions)
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    asked = {
        "stretches": whole_number("stretches", options.get("stretches", 120), 1),
        "slices": whole_number("slices", options.get("slices", 40), 1),
        "block_size": sizes_of(options.get("block_size", 64))[0],
        "processors": shape(options)["processors"],
        "private": choice("private", options.get("private", "exclude"), PRIVATE),
        "sync": choice("sync", options.get("sync", "exclude"), SYNC),
    }
    found = json.loads(_core.picture(str(opened.path), json.dumps(asked), progress))
    return SharingPicture(found, options.get("title") or _title(opened))


def _title(trace: Trace) -> str:
    """The program and its arguments, without its folder."""
    run = trace.info["metadata"]
    return " ".join([Path(run["program"]).name, *run["arguments"]])

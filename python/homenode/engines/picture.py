"""Pictures of a program's sharing: who references which memory when."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

from homenode import _core
from homenode.options.checked import checked
from homenode.options.documented import documented
from homenode.options.typed import PictureOptions
from homenode.trace import Trace

Progress = Callable[[int, int | None], None] | None


class SharingPicture:
    """Who references which stretch of memory in which slice of Time.

    Attributes:
        title: what stands above the picture.
        data: ``references`` in the picture; ``init_done``, how many of them belong to
            initialisation; ``map``, the stretches with reads and writes of each processor; and
            ``slices``, one list a slice of Time with a number a stretch: 0 no processor, 1 several
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

    def __repr__(self) -> str:
        return f"SharingPicture({self.title!r}, references={self.data['references']})"

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        return self.svg()

    _repr_html_ = _repr_svg_


@documented("picture")
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
    opened = trace if isinstance(trace, Trace) else Trace.open(trace)
    asked = checked("picture", options)
    title = asked.pop("title")
    found = json.loads(_core.picture(str(opened.path), json.dumps(asked), progress))
    return SharingPicture(found, title or _title(opened))


def _title(trace: Trace) -> str:
    """The program and its arguments, without its folder."""
    run = trace.info["metadata"]
    return " ".join([Path(run["program"]).name, *run["arguments"]])

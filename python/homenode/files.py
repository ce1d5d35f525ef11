"""Output files that appear under their name only when they are complete."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a temporary file beside `path` and renames it to `path` if the block succeeds.

    Raises:
        OSError: when the file cannot be written; it then names `path`.
    """
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    if target.is_dir():
        raise IsADirectoryError(21, "is a directory", str(target))
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and error.filename == str(partial):
            error.filename = str(target)
        raise

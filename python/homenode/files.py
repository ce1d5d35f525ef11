"""Output files that appear under their name only when they are complete."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def refuse_folder(path: str | os.PathLike[str]) -> None:
    """Checks that an output is not an existing folder, before any work is done for it.

    Raises:
        IsADirectoryError: when it is one.
    """
    if Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a temporary file beside `path` and renames it to `path` if the block succeeds.

    Raises:
        OSError: when the file cannot be written; it then names `path`.
    """
    with replacing_name(path) as partial:
        try:
            file = Path(partial).open("wb")  # noqa: SIM115 - closed below, before the renaming
        except OSError as error:
            error.filename = str(path)
            raise
        with file:
            yield file


@contextlib.contextmanager
def replacing_name(path: str | os.PathLike[str]) -> Iterator[str]:
    """A temporary name beside `path`; what is there becomes `path` if the block succeeds.

    ``-`` stands for standard output and stays as it is.

    Raises:
        OSError: when `path` is a folder or the file cannot be renamed.
    """
    target = Path(path)
    if str(path) == "-":
        yield "-"
        return
    refuse_folder(target)
    partial = target.with_name(target.name + ".partial")
    try:
        yield str(partial)
        partial.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise

"""Output files that appear under their name only when they are complete."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Checks that a trace can get this name, before any work is done for it.

    A trace is renamed into place, which would replace a device or a pipe by a file.

    Raises:
        OSError: when there is a folder, a device or a pipe of this name.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if _is_special(target):
        raise OSError(errno.EINVAL, "a trace cannot be a device or a pipe; name a file", str(path))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


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

    ``-`` stands for standard output and stays as it is, and so do devices and pipes.

    Raises:
        OSError: when `path` is a folder or the file cannot be renamed.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if str(path) == "-" or _is_special(target):
        yield str(path)
        return
    partial = target.with_name(target.name + ".partial")
    try:
        yield str(partial)
        partial.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise

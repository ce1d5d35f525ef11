"""Output files that appear under their name only when they are complete."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PathLike = str | os.PathLike[str]


def check_output(path: PathLike, *inputs: PathLike) -> None:
    """Checks, before any work is done, that a file can get this name; ``-`` always can.

    Raises:
        OSError: when there is a folder of this name, no folder that can hold it, or it is an input:
            writing would destroy what is being read.
    """
    target = Path(path)
    if str(path) == "-":
        return
    if not str(path):
        raise OSError(errno.ENOENT, "an output has an empty name; name a file", "''")
    if target.is_dir():
        raise _refusal(errno.EISDIR, path)
    if not target.parent.is_dir():
        raise _refusal(errno.ENOTDIR if target.parent.exists() else errno.ENOENT, path)
    for source in map(Path, inputs):
        if target.is_file() and source.exists() and target.samefile(source):
            raise OSError(errno.EINVAL, "the output is also an input; name another file", str(path))
    if not _is_special(target):
        _check_folder(path)


def _check_folder(path: PathLike) -> None:
    """Only an attempt tells whether a folder takes files: also of another user, or read-only."""
    try:
        with tempfile.TemporaryFile(dir=Path(path).parent):
            pass
    except OSError as error:
        raise _refusal(error.errno or errno.EIO, path) from None


def same_file(one: PathLike, other: PathLike) -> bool:
    """Whether two outputs would be one file: both can go to a device or to standard output."""
    if "-" in {str(one), str(other)} or _is_special(Path(one)):
        return False
    return Path(one).resolve() == Path(other).resolve()


def check_replaceable(path: PathLike, *inputs: PathLike) -> None:
    """As `check_output`, for a trace.

    A trace is renamed into place, which would replace a device or a pipe by a file.

    Raises:
        OSError: also when there is a device or a pipe of this name.
    """
    check_output(path, *inputs)
    if _is_special(Path(path)):
        raise OSError(errno.EINVAL, "a trace cannot be a device or a pipe; name a file", str(path))


def _refusal(number: int, path: PathLike) -> OSError:
    return OSError(number, os.strerror(number), str(path))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


@contextlib.contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Opens a temporary file beside `path` and renames it to `path` if the block succeeds.

    Raises:
        OSError: when the file cannot be written; it then names `path`.
    """
    with replacing_name(path) as partial:
        try:
            # Devices and pipes are written to; otherwise the name must be free, so that no link is
            # followed.
            mode = "wb" if partial == str(path) else "xb"
            file = Path(partial).open(mode)  # noqa: SIM115 - closed below, before the renaming
        except OSError as error:
            error.filename = str(path)
            raise
        try:
            with file:
                yield file
        except OSError as error:
            # ENOSPC, raised by a write, carries no file name.
            error.filename = error.filename or str(path)
            raise


def write_text(path: PathLike, text: str) -> int:
    """Writes a text, as `replacing` does; returns its size in bytes.

    Raises:
        OSError: when the file cannot be written.
    """
    with replacing(path) as file:
        return file.write(text.encode())


@contextlib.contextmanager
def replacing_name(path: PathLike) -> Iterator[str]:
    """A temporary name beside `path`; its file is renamed to `path` if the block succeeds.

    The name is a new one each time: of two commands that write the same file the later one wins,
    and neither damages the other's file. ``-`` stands for standard output and stays as it is,
    and so do devices and pipes.

    Raises:
        OSError: when `path` is a folder or the file cannot be renamed.
    """
    target = Path(path)
    check_output(path)
    if str(path) == "-" or _is_special(target):
        yield str(path)
        return
    partial = target.with_name(f"{target.name}.{os.urandom(4).hex()}.partial")
    try:
        yield str(partial)
        partial.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise

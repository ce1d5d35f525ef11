"""The first file system of a recorded system: the user's, with the mark program added.

Linux unpacks several cpio archives, one behind the other, as if they were one; each may be
compressed or not (Documentation/driver-api/early-userspace/buffer-format.rst). So the user's
archive stays as it is, and a small one goes before it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from homenode.files import PathLike

__all__ = ["MARK", "archive", "parts", "with_mark"]

# Where the mark program is in the recorded system.
MARK = "homenode/mark"

_FOLDER, _PROGRAM = 0o040755, 0o100755
_ALIGNMENT = 4

# First bytes of the files that Linux unpacks: cpio as "newc", plain or with checksums, or
# compressed (lib/decompress.c of Linux 6.1).
_MAGIC_NUMBERS = {
    "cpio": (b"070701", b"070702"),
    "gzip": (b"\x1f\x8b", b"\x1f\x9e"),
    "bzip2": (b"BZh",),
    "lzma": (b"\x5d\x00",),
    "xz": (b"\xfd7zXZ\x00",),
    "lzo": (b"\x89LZO",),
    "lz4": (b"\x02\x21\x4c\x18",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}


def archive(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    """A cpio archive ("newc") of names, modes and contents.

    Args:
        entries: folders come before what is in them.
    """
    return b"".join(parts(entries))


def parts(entries: Iterable[tuple[str, int, bytes]]) -> Iterator[bytes]:
    """The entries of such an archive one by one, for archives that do not fit in memory."""
    for i, (name, mode, data) in enumerate(entries):
        yield _entry(name, i + 1, mode, data)
    yield _entry("TRAILER!!!", 0, 0, b"")


def with_mark(initramfs: PathLike, mark: PathLike, target: PathLike) -> None:
    """Writes an initramfs that also has the mark program, as ``/homenode/mark``.

    Args:
        initramfs: the user's, uncompressed or compressed in a way the kernel knows.
        mark: the mark program.
        target: the file to write.

    Raises:
        OSError: when a file cannot be read or written.
        ConfigError: when `initramfs` is not in a format that Linux unpacks.
    """
    with Path(initramfs).open("rb") as file:
        beginning = file.read(8)
    if not beginning.startswith(tuple(sum(_MAGIC_NUMBERS.values(), ()))):
        raise ConfigError(
            f"{initramfs}: expected a cpio archive (newc), as it is or compressed by "
            f"{', '.join(list(_MAGIC_NUMBERS)[1:])}, found {beginning!r}; make one with "
            "`find . | cpio -o -H newc | gzip`"
        )
    ours = archive([("homenode", _FOLDER, b""), (MARK, _PROGRAM, Path(mark).read_bytes())])
    with Path(target).open("wb") as out, Path(initramfs).open("rb") as theirs:
        out.write(ours)
        shutil.copyfileobj(theirs, out)


def _entry(name: str, number: int, mode: int, data: bytes) -> bytes:
    links = 2 if mode == _FOLDER else 1
    encoded = name.encode() + b"\0"
    fields = [number, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(encoded), 0]
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)

"""Inputs that Python reads for an import: standard input, pipes and compressed files."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from homenode.errors import trace_error

if TYPE_CHECKING:
    from collections.abc import Iterator


class Readable(Protocol):
    """What gives bytes."""

    def read(self, size: int = ..., /) -> bytes:
        """The next bytes; none at the end."""


# Endings of compressed files, and the bytes that each begins with.
COMPRESSIONS: dict[str, bytes] = {
    "gz": b"\x1f\x8b\x08",
    "xz": b"\xfd7zXZ\0",
    "zst": b"\x28\xb5\x2f\xfd",
    "bz2": b"BZh",
}
_HEAD_BYTES = max(map(len, COMPRESSIONS.values()))
# Where a tar archive says that it is one.
_TAR = slice(257, 262)


def uncompressed_name(name: str) -> str:
    """The name of a file without the ending of a compression.

    >>> uncompressed_name("refs.csv.gz"), uncompressed_name("refs.csv")
    ('refs.csv', 'refs.csv')
    """
    path = Path(name)
    compressed = path.suffix.removeprefix(".").lower() in COMPRESSIONS
    return str(path.with_suffix("")) if compressed else name


@contextlib.contextmanager
def input_stream(source: str) -> Iterator[Readable | None]:
    """The bytes of an input, decompressed; None for a file that can be read as it is.

    The first bytes tell the compression, whatever the name is.

    Args:
        source: the file, or ``-`` for standard input.

    Raises:
        OSError: when the file cannot be opened.
    """
    if source != "-" and Path(source).is_file():
        with Path(source).open("rb") as file:
            head = file.read(_HEAD_BYTES)
            file.seek(0)
            compression = _compression(head)
            yield None if compression is None else _Decompressed(file, compression, source)
        return
    standard = contextlib.nullcontext(sys.stdin.buffer)
    with standard if source == "-" else Path(source).open("rb") as pipe:
        resumed = io.BufferedReader(_Resumed(pipe))
        compression = _compression(resumed.peek(_HEAD_BYTES))
        name = "standard input" if source == "-" else source
        yield resumed if compression is None else _Decompressed(resumed, compression, name)


def _compression(head: bytes) -> str | None:
    return next((name for name, magic in COMPRESSIONS.items() if head.startswith(magic)), None)


class _Resumed(io.RawIOBase):
    """A pipe whose first read gives enough bytes to tell a compression, if it has them."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe: Any = pipe
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, out: Any) -> int:
        data = self._pipe.read1(len(out))
        while not self._begun and data and len(data) < min(_HEAD_BYTES, len(out)):
            more = self._pipe.read1(len(out) - len(data))
            if not more:
                break
            data += more
        self._begun = True
        out[: len(data)] = data
        return len(data)


class _Decompressed:
    """The bytes of a compressed input; damage is an error that names the input."""

    def __init__(self, file: Any, compression: str, source: str) -> None:
        self._source, self._compression = source, compression
        self._first = True
        with self._errors():
            self._stream = _decompressor(file, compression)

    def read(self, size: int = -1, /) -> bytes:
        with self._errors():
            data = bytes(self._stream.read(size))
        if self._first and data[_TAR] == b"ustar":
            raise trace_error("it is a tar archive; extract the trace from it", self._source)
        self._first = False
        return data

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except _damage(self._compression) as error:
            reason = str(error) or type(error).__name__
            message = f"the {self._compression} data is damaged or cut off ({reason}); copy it anew"
            raise trace_error(message, self._source) from error


def _decompressor(file: Any, compression: str) -> Any:
    # The modules are imported where they are needed: an interpreter may lack one.
    if compression == "gz":
        import gzip

        return gzip.GzipFile(fileobj=file)
    if compression == "xz":
        import lzma

        return lzma.LZMAFile(file)
    if compression == "bz2":
        import bz2

        return bz2.BZ2File(file)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")


def _damage(compression: str) -> tuple[type[Exception], ...]:
    """What the library of a compression raises for damaged data."""
    common = (EOFError, OSError)
    if compression == "gz":
        import zlib

        return (*common, zlib.error)
    if compression == "xz":
        import lzma

        return (*common, lzma.LZMAError)
    return common

"""What a check needs to know of an ELF file: where it is loaded, its sections, its machine."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Image", "Section"]

_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}
_LOAD, _SYMBOLS = 1, 2
_SYMBOL = struct.Struct("<IBBHQQ")
_PAGE = 4096


@dataclass(frozen=True)
class Section:
    """A section that is in memory when the program runs; the address is that in the file."""

    name: str
    address: int
    size: int


@dataclass(frozen=True)
class _Segment:
    offset: int
    address: int
    size: int


@dataclass(frozen=True)
class _Header:
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


class Image:
    """A 64-bit little-endian ELF file.

    Args:
        path: the file.

    Raises:
        OSError: when it cannot be read.
        ValueError: when it is not such a file.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes()
        if self._bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not a 64-bit little-endian ELF file")
        try:
            self._segments = self._read_segments()
            self._headers = self._read_headers()
            self.sections = self._read_sections()
        except struct.error as error:
            raise ValueError(f"{path}: a damaged ELF file: {error}") from error

    def _read_segments(self) -> list[_Segment]:
        start, size, count = self._table(32, 54)
        found = []
        for i in range(count):
            kind, _, offset, address, _, length = struct.unpack_from(
                "<IIQQQQ", self._bytes, start + i * size
            )
            if kind == _LOAD:
                found.append(_Segment(offset, address, length))
        return found

    def _read_headers(self) -> list[_Header]:
        start, size, count = self._table(40, 58)
        return [
            _Header(*struct.unpack_from("<IIQQQQI", self._bytes, start + i * size))
            for i in range(count)
        ]

    def _read_sections(self) -> tuple[Section, ...]:
        (names,) = struct.unpack_from("<H", self._bytes, 62)
        texts = self._headers[names].offset if names < len(self._headers) else 0
        return tuple(
            Section(self._text(texts + one.name), one.address, one.size)
            for one in self._headers
            if one.address and one.size
        )

    def symbols(self, beginning: str) -> dict[int, str]:
        """The symbols whose names begin so, by address in the file; none in a stripped file."""
        found = {}
        for one in self._headers:
            if one.kind != _SYMBOLS:
                continue
            texts = self._headers[one.link].offset
            table = self._bytes[one.offset : one.offset + one.size // _SYMBOL.size * _SYMBOL.size]
            for name, _, _, _, address, _ in _SYMBOL.iter_unpack(table):
                if self._bytes.startswith(beginning.encode(), texts + name):
                    found[address] = self._text(texts + name)
        return found

    def _table(self, offset_at: int, size_at: int) -> tuple[int, int, int]:
        """Where a table of headers begins, the size of a header, and their number."""
        (offset,) = struct.unpack_from("<Q", self._bytes, offset_at)
        size, count = struct.unpack_from("<HH", self._bytes, size_at)
        return offset, size, count

    def _text(self, start: int) -> str:
        return self._bytes[start : self._bytes.index(b"\0", start)].decode(errors="replace")

    @property
    def machine(self) -> str:
        """The instruction set, as in QEMU's names; empty for another one."""
        return _MACHINES.get(struct.unpack_from("<H", self._bytes, 18)[0], "")

    @property
    def first_page(self) -> int:
        """The address in the file of what is mapped first."""
        return min((s.address for s in self._segments), default=0) & -_PAGE

    def code(self, address: int, size: int) -> bytes:
        """The bytes at an address in the file; fewer, or none, where there are no such bytes."""
        for segment in self._segments:
            inside = address - segment.address
            if 0 <= inside < segment.size:
                start = segment.offset + inside
                return self._bytes[start : start + min(size, segment.size - inside)]
        return b""

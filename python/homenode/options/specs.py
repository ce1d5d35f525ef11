"""Lists and numbers as people write them: machines, policies, block sizes, costs.

A machine or policy may carry parameters after a colon, themselves separated by commas, so a list
such as ``optimal,delay:n=50,limit=2,ace`` needs care: a part of the form ``name=value`` continues
the item before it when that item has a colon.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from homenode.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*=")
_SIZE = re.compile(r"([0-9]+)([KMG]?)(?:i?B)?", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_BYTES_END = 1 << 48
_SMALLEST_BLOCK, _LARGEST_BLOCK = 4, 1 << 30


def split_specs(text: str, what: str) -> list[str]:
    """Splits a list of machines or policies, leaving parameters with their item.

    Args:
        text: the list, for example ``prices:r=15,R=59,ace``.
        what: the word for one item in error messages, ``machine`` or ``policy``.

    Returns:
        The items in order, each once.

    Raises:
        ConfigError: when an item is empty or a parameter follows no item that takes any.

    >>> split_specs("optimal,delay:n=50,limit=2,ace", "policy")
    ['optimal', 'delay:n=50,limit=2', 'ace']
    """
    items: list[str] = []
    for raw in text.split(","):
        part = raw.strip()
        if not part:
            raise ConfigError(
                f"empty {what} in {text!r}; expected names separated by single commas"
            )
        if _PARAMETER.match(part):
            if not items or ":" not in items[-1]:
                raise ConfigError(
                    f"parameter {part!r} in {text!r} belongs to no {what}; "
                    f"write it after a colon, as in NAME:{part} "
                    "(a file whose name has '=' needs a leading ./)"
                )
            items[-1] += "," + part
        else:
            items.append(part)
    return unique(items)


def parse_block_sizes(text: str, what: str = "block size") -> list[int]:
    """Reads a list of block sizes: ``64``, ``4K``, ``8KB``, ``64-8192`` (doubling).

    Args:
        text: sizes and ranges separated by commas; bytes, with K, M and G for 2**10, 2**20, 2**30.
        what: the word for one of them in error messages.

    Returns:
        The sizes in bytes in the order written, each once.

    Raises:
        ConfigError: when a size is not a power of two from 4 bytes to 1 GiB, or a range is empty.

    >>> parse_block_sizes("64-512,4K")
    [64, 128, 256, 512, 4096]
    """
    return _sizes(text, parse_block_size, what)


def parse_cache_sizes(text: str) -> list[int]:
    """Reads a list of cache sizes, written like block sizes but not only powers of two.

    Raises:
        ConfigError: when a size is no number of bytes, or a range is empty.

    >>> parse_cache_sizes("48K,64K-256K")
    [49152, 65536, 131072, 262144]
    """
    return _sizes(text, _parse_size, "cache size")


def _sizes(text: str, parse: Callable[[str, str], int], what: str) -> list[int]:
    """Sizes and doubling ranges of them."""
    sizes: list[int] = []
    for raw in text.split(","):
        part = raw.strip()
        low, dash, high = part.partition("-")
        # What begins with a dash is no range: the error shows all of it.
        first = parse(low or part, what)
        if not dash:
            sizes.append(first)
            continue
        last = parse(high, what)
        if last < first:
            raise ConfigError(f"{what} range {part!r} runs backwards; write the smaller size first")
        while first <= last:
            sizes.append(first)
            first *= 2
    return unique(sizes)


def parse_block_size(text: str, what: str = "block size") -> int:
    """Reads one block size in bytes, or one of something else that has the same sizes.

    Raises:
        ConfigError: when it is not a number or not a power of two from 4 bytes to 1 GiB.

    >>> parse_block_size("8KB")
    8192
    """
    size = _parse_size(text, what)
    if size & (size - 1) or not _SMALLEST_BLOCK <= size <= _LARGEST_BLOCK:
        raise ConfigError(f"{what} {size} is not a power of two between 4 and 1073741824 bytes")
    return size


def _parse_size(text: str, what: str) -> int:
    """A number of bytes, not 0."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise ConfigError(
            f"{what} {text.strip()!r} is not a number of bytes; "
            "write 64, 4K, 8KB, or a doubling range such as 64-8192"
        )
    size = int(match[1]) * _UNIT[match[2].upper()]
    if size >= _BYTES_END:
        raise ConfigError(f"{what} {text.strip()!r} is too large; expected less than 2^48 bytes")
    return size


def format_size(size: int) -> str:
    """A size in bytes as people write it.

    >>> format_size(64), format_size(8192)
    ('64 B', '8 KB')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def plain_number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits and no superfluous zeros; None is infinite.

    >>> plain_number(2.0), plain_number(1.23456), plain_number(12345.6), plain_number(None)
    ('2', '1.235', '12,346', '∞')
    >>> plain_number(7), plain_number(1234567), plain_number(0.0000123)
    ('7', '1,234,567', '1.23e-05')
    """
    if value is None or value == float("inf"):
        return "∞"
    if isinstance(value, int) or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def unique(items: Iterable[T]) -> list[T]:
    """The items in order, each once."""
    return list(dict.fromkeys(items))

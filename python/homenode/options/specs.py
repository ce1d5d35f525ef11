"""Sizes and numbers as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")


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
    """A number with at most `digits` significant digits, without trailing zeros; None is infinite.

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

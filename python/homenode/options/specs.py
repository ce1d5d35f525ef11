"""Sizes and numbers as people write them."""

from collections.abc import Iterable
from typing import TypeVar

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


def percent(share: float | None, digits: str = ".1f") -> str:
    """A part of a whole, given as a fraction of it; None is unknown.

    >>> percent(0.0704), percent(0.0704, ".3g"), percent(None)
    ('7.0%', '7.04%', '-')
    """
    return "-" if share is None else f"{100 * share:{digits}}%"


def plural(count: int, what: str) -> str:
    """The word for a number of things.

    >>> plural(1, "processor"), plural(2, "processor"), plural(2, "miss")
    ('processor', 'processors', 'misses')
    """
    return what if count == 1 else f"{what}es" if what.endswith("s") else f"{what}s"


def counted(count: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "hit"), counted(2000, "miss")
    ('1 hit', '2,000 misses')
    """
    return f"{count:,} {plural(count, what)}"


def unique(items: Iterable[T]) -> list[T]:
    """The items in order, each once."""
    return list(dict.fromkeys(items))

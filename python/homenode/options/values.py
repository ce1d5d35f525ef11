"""Options as users give them: checked, with an error that names the option and what it takes."""

from __future__ import annotations

import operator
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from homenode.errors import ConfigError
from homenode.options.specs import parse_block_sizes, parse_cache_sizes, split_specs, unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FULL = "full"
"""The associativity of a cache that is one set."""

_PROCESSORS_MAX = 1024
_COUNTS = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_RANGE = re.compile(r"(0x[0-9a-f]+|[0-9]+)-(0x[0-9a-f]+|[0-9]+)", re.IGNORECASE)
# Counts of references fit, and so does every sum of a few of them.
_LIMIT = 1 << 48


@contextmanager
def about(option: str) -> Iterator[None]:
    """Names the option in an error about its value.

    Raises:
        ConfigError: the one that the block raises, with the name before it.
    """
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{option}: {error}") from None


def only_known(options: Mapping[str, Any], known: type) -> None:
    """Refuses options that the typed dictionary `known` does not name.

    Raises:
        ConfigError: naming them, and those that there are.
    """
    unknown = sorted(set(options) - set(known.__annotations__))
    if unknown:
        raise ConfigError(
            f"there is no option {', '.join(unknown)}; "
            f"the options are {', '.join(known.__annotations__)}"
        )


def specs_of(given: str | Iterable[str], what: str) -> list[str]:
    """Names with their parameters, such as machines or policies, each once."""
    items = [given] if isinstance(given, str) else list(given)
    found = unique(spec for item in items for spec in split_specs(item, what))
    if not found:
        raise ConfigError(f"no {what} given; expected at least one name")
    return found


def sizes_of(given: str | int | Iterable[int], what: str = "block size") -> list[int]:
    """Block or page sizes, however they are given."""
    if isinstance(given, str):
        return parse_block_sizes(given, what)
    sizes = given if not isinstance(given, int) and hasattr(given, "__iter__") else [given]
    whole = [str(whole_number(what, size)) for size in sizes]
    found = parse_block_sizes(",".join(whole), what) if whole else []
    if not found:
        raise ConfigError(f"no {what} given; expected at least one power of two in bytes")
    return found


def cache_sizes(given: str | int | Iterable[int]) -> list[int]:
    """Sizes of caches, however they are given."""
    if isinstance(given, str):
        return parse_cache_sizes(given)
    listed = [given] if isinstance(given, int) else list(given)
    return unique(whole_number("cache size", size, 1) for size in listed)


def associativities(given: str | int | Iterable[int | str]) -> list[int | None]:
    """Blocks in a set, however they are given; ``None`` for a fully associative cache."""
    listed: list[Any] = given.split(",") if isinstance(given, str) else [given]
    if not isinstance(given, str | int):
        listed = list(given)
    return unique(_associativity(one) for one in listed)


def _associativity(given: Any) -> int | None:
    """Blocks in a set; ``None`` for a fully associative cache."""
    text = str(given).strip()
    if text == FULL:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise ConfigError(f"associativity is {given!r}; expected a number from 1 on, or {FULL}")
    return whole_number("associativity", int(text), 1)


def buffers(given: str | int | Iterable[str | int]) -> list[str]:
    """How many messages may wait at a controller: numbers, or text as ``infinite,8``."""
    listed = [given] if isinstance(given, str | int) else list(given)
    return unique(one.strip() for item in listed for one in str(item).split(","))


def counts(given: str | int | Iterable[int]) -> list[int]:
    """Numbers of processors: a list, or text as ``4,8`` or ``1-20``."""
    if not isinstance(given, str):
        listed = [given] if isinstance(given, int) else list(given)
        return unique(whole_number("number of processors", count, 1) for count in listed)
    found: list[int] = []
    for part in given.split(","):
        match = _COUNTS.fullmatch(part.strip())
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high <= _PROCESSORS_MAX:
            raise ConfigError(
                f"number of processors {part!r}: expected numbers from 1 to {_PROCESSORS_MAX}, as "
                "in 4,8 or 1-20"
            )
        found.extend(range(low, high + 1))
    return unique(found)


def address_range(given: str | tuple[int, int]) -> list[int]:
    """A range of addresses: its first byte, and one past the last.

    Raises:
        ConfigError: when it is none, or empty.

    >>> address_range("0x1000-0x2000")
    [4096, 8192]
    """
    if isinstance(given, str):
        match = _RANGE.fullmatch(given.strip())
        if match is None:
            raise ConfigError(
                f"private range {given!r}: expected LO-HI, the first byte and one past the last, "
                "as in 0x1000-0x2000"
            )
        low, high = (int(word, 0) for word in match.groups())
    else:
        low, high = given
    if not 0 <= low < high < 1 << 64:
        raise ConfigError(
            f"private range {low:#x}-{high:#x}: expected the first byte and, after it, one past "
            "the last"
        )
    return [low, high]


def address_ranges(given: Iterable[str | tuple[int, int]]) -> list[list[int]]:
    """Ranges of addresses, however they are given."""
    return [address_range(one) for one in given]


def whole_number(name: str, value: Any, least: int | None = None) -> int:
    """A whole number of any integer type; half a processor is a mistake, not one rounded."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise ConfigError(f"{name} is {value!r}; expected a whole number") from None
    if least is not None and whole < least:
        raise ConfigError(f"{name} is {whole}; expected at least {least}")
    if whole >= _LIMIT:
        raise ConfigError(f"{name} is {whole}; expected less than 2^48")
    return whole


def choice(name: str, value: str, choices: Iterable[str]) -> str:
    """The value, if it is one of the choices."""
    listed = list(choices)
    if value not in listed:
        raise ConfigError(f"{name} is {value!r}; expected one of {', '.join(listed)}")
    return value

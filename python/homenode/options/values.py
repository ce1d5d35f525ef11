"""Values as people and programs give them: text, numbers, or several of either.

This is the only place that parses the syntax of a value; `homenode.options.kinds` says which option
takes what. A machine or policy may carry parameters after a colon, themselves separated by commas,
so a list such as ``optimal,delay:n=50,limit=2,ace`` needs care: a part of the form ``name=value``
continues the item before it when that item has a colon.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from homenode.errors import ConfigError
from homenode.options.specs import unique

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

FULL = "full"
"""The associativity of a cache that is one set."""

_PROCESSORS_MAX = 1024
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*=")
_SIZE = re.compile(r"([0-9]+)([KMG]?)(?:i?B)?", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SMALLEST_BLOCK, _LARGEST_BLOCK = 4, 1 << 30
_COUNTS = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_RANGE = re.compile(r"(0x[0-9a-f]+|[0-9]+)-(0x[0-9a-f]+|[0-9]+)", re.IGNORECASE)
# Numbers of references and bytes fit, and so does every sum of a few of them.
_LIMIT = 1 << 48
_ADDRESS_END = 1 << 64


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
    """Names with their parameters, such as machines or policies, each once.

    Args:
        given: a list as text, or several.
        what: the word for one of them in error messages, such as ``machine``.

    Raises:
        ConfigError: when there is none, one is empty, or a parameter follows no name that takes
            any.

    >>> specs_of("optimal,delay:n=50,limit=2,ace", "policy")
    ['optimal', 'delay:n=50,limit=2', 'ace']
    """
    found = _listed(given, lambda text: _split_specs(text, what))
    if not found:
        raise ConfigError(f"no {what} given; expected at least one name")
    return found


def _split_specs(text: str, what: str) -> list[str]:
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
    return items


def sizes_of(given: str | int | Iterable[int | str], what: str = "block size") -> list[int]:
    """Block or page sizes in bytes, in the order given, each once.

    Args:
        given: numbers, or text: sizes and doubling ranges separated by commas, with K, M and G for
            2**10, 2**20 and 2**30.
        what: the word for one of them in error messages.

    Raises:
        ConfigError: when a size is not a power of two from 4 bytes to 1 GiB, a range is empty, or
            there is none.

    >>> sizes_of("64-512,4K")
    [64, 128, 256, 512, 4096]
    """
    found = _listed(given, lambda one: _sizes(one, what, _power_of_two))
    if not found:
        raise ConfigError(f"no {what} given; expected at least one power of two in bytes")
    return found


def cache_sizes(given: str | int | Iterable[int | str]) -> list[int]:
    """Sizes of caches, given like block sizes but not only powers of two.

    Raises:
        ConfigError: when a size is no number of bytes, or a range is empty.

    >>> cache_sizes("48K,64K-256K")
    [49152, 65536, 131072, 262144]
    """
    return _listed(given, lambda one: _sizes(one, "cache size", lambda size, _: size))


def block_size(given: int | str, what: str = "block size") -> int:
    """One block or page size."""
    return _one(sizes_of(given, what), what, given)


def cache_size(given: int | str) -> int:
    """The size of one cache."""
    return _one(cache_sizes(given), "cache size", given)


def _one(sizes: list[int], what: str, given: int | str) -> int:
    if len(sizes) != 1:
        raise ConfigError(f"{given!r}: expected one {what}")
    return sizes[0]


def _sizes(given: Any, what: str, checked: Callable[[int, str], int]) -> list[int]:
    """A size that is a number; or sizes and doubling ranges of them in a text."""
    if not isinstance(given, str):
        return [checked(whole_number(what, given, 1), what)]
    sizes: list[int] = []
    for part in _parts(given):
        low, dash, high = part.partition("-")
        # What begins with a dash is no range: the error shows all of it.
        first = checked(_bytes(low or part, what), what)
        last = checked(_bytes(high, what), what) if dash else first
        if last < first:
            raise ConfigError(f"{what} range {part!r} runs backwards; write the smaller size first")
        while first <= last:
            sizes.append(first)
            first *= 2
    return sizes


def _power_of_two(size: int, what: str) -> int:
    if size & (size - 1) or not _SMALLEST_BLOCK <= size <= _LARGEST_BLOCK:
        raise ConfigError(f"{what} {size} is not a power of two between 4 and 1073741824 bytes")
    return size


def _bytes(text: str, what: str) -> int:
    """A number of bytes, not 0."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise ConfigError(
            f"{what} {text.strip()!r} is not a number of bytes; "
            "write 64, 4K, 8KB, or a doubling range such as 64-8192"
        )
    size = int(match[1]) * _UNIT[match[2].upper()]
    if size >= _LIMIT:
        raise ConfigError(f"{what} {text.strip()!r} is too large; expected less than 2^48 bytes")
    return size


def associativities(given: str | int | Iterable[int | str]) -> list[int | None]:
    """Blocks in a set; ``None`` for a fully associative cache."""
    return _listed(given, lambda one: [_associativity(part) for part in _parts(str(one))])


def _associativity(text: str) -> int | None:
    if text == FULL:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise ConfigError(f"associativity is {text!r}; expected a number from 1 on, or {FULL}")
    return whole_number("associativity", int(text), 1)


def buffers(given: str | int | Iterable[str | int]) -> list[str]:
    """How many messages may wait at a controller: numbers, or text as ``infinite,8``."""
    return _listed(given, lambda one: _parts(str(one)))


def counts(given: str | int | Iterable[int | str]) -> list[int]:
    """Numbers of processors: a list, or text as ``4,8`` or ``1-20``."""
    return _listed(given, _counts)


def _counts(given: Any) -> list[int]:
    if not isinstance(given, str):
        return [whole_number("number of processors", given, 1)]
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
    return found


def costs(given: str | Mapping[str, float]) -> dict[str, float]:
    """Kernel costs in microseconds by name; the engine checks the names.

    Raises:
        ConfigError: when a part of a text is not NAME=US.

    >>> costs("fault=500,flush=20")
    {'fault': 500.0, 'flush': 20.0}
    """
    if isinstance(given, Mapping):
        return dict(given)
    found = {}
    for item in given.split(","):
        name, equals, number = item.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not number.isascii():
            raise ConfigError(f"{item!r}: expected name=microseconds, as in fault=500")
    return found


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
    if not 0 <= low < high < _ADDRESS_END:
        raise ConfigError(
            f"private range {low:#x}-{high:#x}: expected the first byte and, after it, one past "
            "the last"
        )
    return [low, high]


def address_ranges(given: Iterable[str | tuple[int, int]]) -> list[list[int]]:
    """Ranges of addresses, each as text or as a pair."""
    return [address_range(one) for one in given]


def addresses(given: Iterable[int | str]) -> list[int]:
    """Addresses, as numbers or as text."""
    return [_address(one) for one in given]


def _address(given: int | str) -> int:
    try:
        address = int(given, 0) if isinstance(given, str) else int(given)
    except ValueError:
        address = -1
    if not 0 <= address < _ADDRESS_END:
        raise ConfigError(f"{given!r}: expected an address in it, as in 0x7f12a0")
    return address


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


def _listed(given: Any, read: Callable[[Any], Iterable[T]]) -> list[T]:
    """What is read from one value or from each of several, in order, each once."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return unique(value for one in (given if several else [given]) for value in read(one))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]

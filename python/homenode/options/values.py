"""Values as people and programs give them: text, numbers, or several of either.

This is the only place that parses the syntax of a value, whether it is text of the command line or
an argument of a Python function; `homenode.options.kinds` says which option takes which. What is no
such value raises a ConfigError that names it and says what was expected; `about` and click put the
name of the option before that.

A machine or policy may have parameters after a colon, themselves separated by commas. So in a list
such as ``optimal,delay:n=50,limit=2,ace`` a part of the form ``name=value`` continues the item
before it when that item has a colon.
"""

import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from homenode.errors import ConfigError
from homenode.options.specs import unique

T = TypeVar("T")

FULL = "full"
"""The associativity of a cache that is one set."""

_PROCESSORS_MAX = 1024
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*=")
# Python's int also reads underscores and the digits of other scripts. No number that an option can
# have is longer.
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_SIZE = re.compile(r"([0-9]{1,40})([KMG]?)(?:i?B)?", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SMALLEST_BLOCK, _LARGEST_BLOCK = 4, 1 << 30
_COUNTS = re.compile(r"([0-9]{1,40})(?:-([0-9]{1,40}))?")
_ADDRESS = re.compile(r"(0x)?([0-9a-f]{1,40})", re.IGNORECASE)
# Numbers of references and bytes fit, and so does every sum of a few of them.
_MOST = (1 << 48) - 1
_ADDRESS_END = 1 << 64


@contextmanager
def about(option: str) -> Iterator[None]:
    """Names the option in an error about its value."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{option}: {error}") from None


def only_known(options: Iterable[str], known: Iterable[str]) -> None:
    """Refuses options that are not known."""
    listed = list(known)
    unknown = sorted(set(options) - set(listed))
    if unknown:
        raise ConfigError(
            f"there is no option {', '.join(unknown)}; the options are {', '.join(listed)}"
        )


def whole_number(given: Any, least: int | None, most: int | None = None, what: str = "") -> int:
    """A whole number, as text or of any integer type; 2.5 is refused, and not rounded.

    Args:
        given: the number.
        least: the least one allowed; None for 0.
        most: the largest one allowed; None for that of all options.
        what: the word for it in error messages.

    >>> whole_number("64", 1), whole_number(64, 1)
    (64, 64)
    """
    text = isinstance(given, str) and _WHOLE.fullmatch(given.strip())
    try:
        whole = int(given) if text else operator.index(given)
    except TypeError:
        whole = -1
    low, high = least or 0, _MOST if most is None else most
    if not low <= whole <= high:
        bounds = f"{low} to {high}" if most is not None or whole > high else low
        raise ConfigError(f"{what} {given!r}: expected a whole number from {bounds}".lstrip())
    return whole


def whole_numbers(given: str | int | Iterable[int | str], least: int, most: int) -> list[int]:
    """Whole numbers, given as a list or as text with commas between them.

    >>> whole_numbers("50,100", 1, 1000)
    [50, 100]
    """
    return _listed(given, lambda part: [whole_number(part, least, most)])


def real_number(given: str | float) -> float:
    """A number that may have a fraction."""
    try:
        # Digits of other scripts are not plain.
        return float(given if str(given).isascii() else "")
    except ValueError:
        raise ConfigError(f"{given!r}: expected a number") from None


def text(given: object) -> str:
    """Text, and not a number or anything else that could be written as text."""
    if not isinstance(given, str):
        raise ConfigError(f"{given!r}: expected text")
    return given


def path(given: str | os.PathLike[str]) -> str:
    """The name of a file."""
    try:
        return os.fspath(given)
    except TypeError:
        raise ConfigError(f"{given!r}: expected the name of a file") from None


def points(given: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Combinations to simulate, each a dictionary; the engine checks what is in them."""
    found = [given] if isinstance(given, Mapping) else list(_several(given))
    for one in found:
        if one is given or not isinstance(one, Mapping):
            raise ConfigError(
                f"{one!r}: expected a list of dictionaries, as in [{{'protocol': 'mesi'}}]"
            )
    return found


def choice(given: object, choices: Iterable[str]) -> str:
    """The value, if it is one of the choices."""
    listed = list(choices)
    if given not in listed:
        raise ConfigError(f"{given!r}: expected one of {', '.join(listed)}")
    return str(given)


def specs_of(given: str | Iterable[str], what: str) -> list[str]:
    """Names with their parameters, such as machines or policies, each once.

    Args:
        given: a list as text, or several.
        what: the word for one of them in error messages, such as ``machine``.

    >>> specs_of("optimal,delay:n=50,limit=2,ace", "policy")
    ['optimal', 'delay:n=50,limit=2', 'ace']
    """
    found = _listed(given, lambda text: _split_specs(text, what), split=False)
    if not found:
        raise ConfigError(f"no {what} given; expected at least one name")
    return found


def _split_specs(text: str, what: str) -> list[str]:
    if not isinstance(text, str):
        raise ConfigError(f"{what} {text!r}: expected a name")
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

    >>> sizes_of("64-512,4K")
    [64, 128, 256, 512, 4096]
    """
    found = _listed(given, lambda part: _sizes(part, what, _power_of_two))
    if not found:
        raise ConfigError(f"no {what} given; expected at least one power of two in bytes")
    return found


def cache_sizes(given: str | int | Iterable[int | str]) -> list[int]:
    """Sizes of caches, given like block sizes but not only powers of two.

    >>> cache_sizes("48K,64K-256K")
    [49152, 65536, 131072, 262144]
    """
    return _listed(given, lambda part: _sizes(part, "cache size", lambda size, _: size))


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


def _sizes(part: Any, what: str, checked: Callable[[int, str], int]) -> list[int]:
    """One size, or a doubling range of them in a text."""
    if not isinstance(part, str):
        return [checked(whole_number(part, 1, what=what), what)]
    low, dash, high = part.partition("-")
    # What begins with a dash is no range: the error shows all of it.
    size = checked(_bytes(low or part, what), what)
    last = checked(_bytes(high, what), what) if dash else size
    if last < size:
        raise ConfigError(f"{what} range {part!r} runs backwards; write the smaller size first")
    sizes = []
    while size <= last:
        sizes.append(size)
        size *= 2
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
    if size > _MOST:
        raise ConfigError(f"{what} {text.strip()!r} is too large; expected less than 2^48 bytes")
    return size


def associativities(given: str | int | Iterable[int | str]) -> list[int | None]:
    """Blocks in a set; ``None`` for a fully associative cache."""
    return _listed(given, lambda part: [None if part == FULL else _associativity(part)])


def _associativity(given: Any) -> int:
    try:
        return whole_number(given, 1, what="associativity")
    except ConfigError as error:
        raise ConfigError(f"{error}, or {FULL}") from None


def buffers(given: str | int | Iterable[str | int]) -> list[str]:
    """How many messages may wait at a controller: numbers, or text as ``infinite,8``."""
    return _listed(given, lambda part: [str(part)])


def counts(given: str | int | Iterable[int | str]) -> list[int]:
    """Numbers of processors: a list, or text as ``4,8`` or ``1-20``."""
    return _listed(given, _counts)


def _counts(part: Any) -> Iterable[int]:
    if not isinstance(part, str):
        return [whole_number(part, 1, what="number of processors")]
    match = _COUNTS.fullmatch(part)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= low <= high <= _PROCESSORS_MAX:
        raise ConfigError(
            f"number of processors {part!r}: expected numbers from 1 to {_PROCESSORS_MAX}, as in "
            "4,8 or 1-20"
        )
    return range(low, high + 1)


def costs(given: str | Mapping[str, float]) -> dict[str, float]:
    """Kernel costs in microseconds by name; the engine checks the names.

    >>> costs("fault=500,flush=20")
    {'fault': 500.0, 'flush': 20.0}
    """
    if isinstance(given, Mapping):
        return dict(given)
    found = {}
    for item in text(given).split(","):
        name, _, number = item.partition("=")
        try:
            found[name.strip()] = real_number(number)
        except ConfigError:
            raise ConfigError(f"{item!r}: expected name=microseconds, as in fault=500") from None
    return found


def address_range(given: str | tuple[int, int]) -> list[int]:
    """A range of addresses: its first byte, and one past the last.

    >>> address_range("0x1000-0x2000")
    [4096, 8192]
    """
    ends = given.split("-") if isinstance(given, str) else given
    pair = isinstance(ends, Sequence) and len(ends) == 2
    low, high = map(_address, ends) if pair else (None, None)
    if low is None or high is None or low >= high:
        raise ConfigError(
            f"private range {given!r}: expected LO-HI, the first byte and one past the last, as in "
            "0x1000-0x2000"
        )
    return [low, high]


def address_ranges(given: Iterable[str | tuple[int, int]]) -> list[list[int]]:
    """Ranges of addresses, each as text or as a pair."""
    return [address_range(one) for one in _several(given)]


def addresses(given: Iterable[int | str]) -> list[int]:
    """Addresses, as numbers or as text."""
    found = []
    for one in _several(given):
        address = _address(one)
        if address is None:
            raise ConfigError(f"{one!r}: expected an address in it, as in 0x7f12a0")
        found.append(address)
    return found


def _address(given: int | str) -> int | None:
    """The address; None if it is none."""
    if isinstance(given, str):
        match = _ADDRESS.fullmatch(given.strip())
        if match is None or not (match[1] or match[2].isdecimal()):
            return None
        given = int(match[2], 16 if match[1] else 10)
    try:
        address = operator.index(given)
    except TypeError:
        return None
    return address if 0 <= address < _ADDRESS_END else None


def _several(given: Any) -> Iterable[Any]:
    """Several values; a text is one, as is what cannot be several."""
    return given if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def _listed(given: Any, read: Callable[[Any], Iterable[T]], split: bool = True) -> list[T]:
    """What is read from each part of one value or of several, in order, each once."""
    parts = (
        part.strip() if isinstance(part, str) else part
        for one in _several(given)
        for part in (one.split(",") if split and isinstance(one, str) else [one])
    )
    return unique(value for part in parts for value in read(part))

"""Options as users give them: checked, with an error that names the option and what it takes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from homenode.errors import ConfigError
from homenode.options.specs import parse_block_sizes, split_specs, unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SYNC = ("exclude", "include")
# Counts of references fit, and so does every sum of a few of them.
_MOST = 1 << 48


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


def shape(options: Mapping[str, Any]) -> dict[str, int | None]:
    """The options ``processors`` and ``threads``: at least 1, or ``None`` for the default."""
    return {
        name: None if options.get(name) is None else whole_number(name, options[name], 1)
        for name in ("processors", "threads")
    }


def specs_of(given: str | Iterable[str], what: str) -> list[str]:
    """Names with their parameters, such as machines or policies, each once."""
    items = [given] if isinstance(given, str) else list(given)
    found = unique(spec for item in items for spec in split_specs(item, what))
    if not found:
        raise ConfigError(f"no {what} given; expected at least one name")
    return found


def sizes_of(given: str | int | Iterable[int]) -> list[int]:
    """Block or page sizes, however they are given."""
    if isinstance(given, str):
        return parse_block_sizes(given)
    sizes = given if not isinstance(given, int) and hasattr(given, "__iter__") else [given]
    whole = [str(whole_number("block size", size)) for size in sizes]
    found = parse_block_sizes(",".join(whole)) if whole else []
    if not found:
        raise ConfigError("no block size given; expected at least one power of two in bytes")
    return found


def whole_number(name: str, value: Any, least: int | None = None) -> int:
    """A whole number of any integer type; half a processor is a mistake, not one rounded."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise ConfigError(f"{name} is {value!r}; expected a whole number") from None
    if least is not None and whole < least:
        raise ConfigError(f"{name} is {whole}; expected at least {least}")
    if whole >= _MOST:
        raise ConfigError(f"{name} is {whole}; expected less than 2^48")
    return whole


def choice(name: str, value: str, choices: Iterable[str]) -> str:
    """The value, if it is one of the choices."""
    listed = list(choices)
    if value not in listed:
        raise ConfigError(f"{name} is {value!r}; expected one of {', '.join(listed)}")
    return value

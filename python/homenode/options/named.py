"""Entries of a table, found by their names."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from homenode.errors import ConfigError


class _Named(Protocol):
    @property
    def name(self) -> str: ...


E = TypeVar("E", bound=_Named)


def find(what: str, entries: Sequence[E], name: str) -> E:
    """The entry of this name.

    Args:
        what: the word for an entry in the error message, such as ``workload``.
        entries: the table.
        name: whose entry is wanted.

    Raises:
        ConfigError: when there is none.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    names = ", ".join(entry.name for entry in entries)
    raise ConfigError(f"there is no {what} {name!r}; choose one of {names}")

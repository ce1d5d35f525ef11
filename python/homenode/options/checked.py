"""Options as users give them, checked against what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from homenode.errors import ConfigError
from homenode.options.declared import options_of
from homenode.options.kinds import KINDS
from homenode.options.values import about, choice, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homenode.options.declared import Option

REALIGN_WINDOW = 1_000_000
"""References of a window of re-alignment (Markatos and Chronaki, section 3.4)."""


def only_declared(study: str, options: Mapping[str, object]) -> None:
    """Refuses options that a study does not have.

    Raises:
        ConfigError: naming them, and those that there are.
    """
    known = [name for name, option in options_of(study).items() if not option.argument]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ConfigError(
            f"there is no option {', '.join(unknown)}; the options are {', '.join(known)}"
        )


def part_of(study: str, options: Mapping[str, object]) -> dict[str, Any]:
    """Those of the options that a study has."""
    declared = options_of(study)
    return {name: value for name, value in options.items() if name in declared}


def checked(study: str, options: Mapping[str, object], *names: str) -> dict[str, Any]:
    """The options of a study as its engine takes them, with defaults filled in.

    Args:
        study: the name of a study.
        options: what the user set; ``None`` and empty lists mean the default.
        names: only these; by default all but the parameters of the Python function.

    Raises:
        ConfigError: when an option has a value that it cannot have.
    """
    declared = options_of(study)
    wanted = names or [name for name, option in declared.items() if not option.argument]
    return {name: value_of(declared[name], options.get(name)) for name in wanted}


def value_of(option: Option, given: Any) -> Any:
    """One option as the engine takes it.

    Raises:
        ConfigError: when it has a value that it cannot have.
    """
    if given is None or (isinstance(given, list | tuple) and not given):
        return option.default
    if option.kind == "choice":
        return choice(option.label, str(given), option.choices)
    if option.kind == "number":
        return whole_number(option.label, given, option.minimum)
    if option.kind == "window":
        return _window(option, given)
    read = KINDS[option.kind].read
    if read is None:
        return given
    with about(option.label):
        return read(given)


def _window(option: Option, given: Any) -> int | None:
    """References of a window of re-alignment; ``True`` and ``False`` are numbers to Python."""
    if given is False:
        return None
    return REALIGN_WINDOW if given is True else whole_number(option.label, given, 1)

"""Options as users give them, checked against what is declared."""

from collections.abc import Iterable, Mapping
from typing import Any

from homenode.errors import ConfigError
from homenode.options.declared import Option, options_of
from homenode.options.values import about, only_known


def only_declared(study: str, options: Iterable[str]) -> None:
    """Refuses options that a study does not have.

    Raises:
        ConfigError: naming them, and those that there are.
    """
    declared = options_of(study)
    only_known(options, [name for name, option in declared.items() if not option.argument])


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
        ConfigError: when the study has no such option, or one has a value that it cannot have.
    """
    only_declared(study, {*options} - {*names})
    declared = options_of(study)
    wanted = names or [name for name, option in declared.items() if not option.argument]
    return {name: value_of(declared[name], options.get(name)) for name in wanted}


def check_order(study: str, options: Mapping[str, object], order: str, why: str) -> None:
    """Refuses options that apply only to another order of references than this one.

    Args:
        study: the name of a study.
        options: what the user set.
        order: the order of this simulation.
        why: why an option does not apply to it, for the error.

    Raises:
        ConfigError: naming the first such option.
    """
    for name, option in options_of(study).items():
        given = options.get(name)
        is_set = given is not None and given is not False  # 0 is a value
        if is_set and option.only_order not in (None, order):
            raise ConfigError(f"{name} is for order {option.only_order}: {why}")


def value_of(option: Option, given: Any) -> Any:
    """One option as the engine takes it; its default if none is given.

    Raises:
        ConfigError: when it has a value that it cannot have.
    """
    if given is None or (isinstance(given, list | tuple) and not given):
        return option.default
    with about(option.label):
        return option.read(given)

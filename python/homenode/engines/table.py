"""The table of engines: which one simulates a machine, and which options are its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from homenode import _core
from homenode.errors import ConfigError
from homenode.options.declared import options_of
from homenode.options.tables import core_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from homenode.options.declared import Option


@cache
def engines() -> dict[str, dict[str, Any]]:
    """The rows of the engines' table by name.

    >>> {name: row["default_machine"] for name, row in engines().items()}
    {'simulate': 'spr-2s', 'bus': 'bus-smp', 'directory': 'dash-mesh'}
    """
    return {row["name"]: row for row in core_table("engines")}


def only_on(engine: str) -> dict[str, Option]:
    """The options of one engine that the engines before it do not have.

    Of the first one, the options that no other engine has.
    """
    names = list(engines())
    first = engine == names[0]
    others = names[1:] if first else names[: names.index(engine)]
    known = {name for other in others for name in options_of(other)}
    return {name: option for name, option in options_of(engine).items() if name not in known}


def engine_for(machines: Sequence[str] | None, options: Mapping[str, Any]) -> str:
    """The engine of these machines; without machines, the one that has all given options.

    Raises:
        ConfigError: when the machines have several engines, or an option is for other machines.

    >>> engine_for(["alite"], {}), engine_for(None, {"homes": "first-touch"}), engine_for(None, {})
    ('directory', 'directory', 'simulate')
    """
    names = list(engines())
    given = {name: [o for key, o in only_on(name).items() if key in options] for name in names}
    if machines is None:
        return next((name for name in reversed(names[1:]) if given[name]), names[0])
    engine = _core.engine_of(list(machines))
    for name in reversed(names[names.index(engine) + 1 :]):
        for option in given[name]:
            row = engines()[name]
            raise ConfigError(
                f"{option.flag or option.name} is for {row['machines']}, such as --machine "
                f"{row['default_machine']}, not {', '.join(machines)}"
            )
    _refuse_options_of_others(engine, options)
    return engine


def _refuse_options_of_others(engine: str, options: Mapping[str, Any]) -> None:
    """Refuses options that machines of this engine do not have."""
    own = options_of(engine)
    for name in options:
        having = [other for other in engines() if name in options_of(other)]
        if name in own or not having:
            continue
        whose = " and ".join(engines()[other]["machines"] for other in having)
        flag = options_of(having[0])[name].flag
        raise ConfigError(f"{flag or name} is for {whose}, not for {engines()[engine]['machines']}")

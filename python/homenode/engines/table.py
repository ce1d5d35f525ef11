"""The table of engines: which one simulates a machine, and which options are its own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from homenode import _core
from homenode.errors import ConfigError, option_error
from homenode.options.declared import Option, options_of
from homenode.options.tables import engines


def only_on(engine: str) -> dict[str, Option]:
    """The options of one engine that the engines before it do not have.

    Of the first one, the options that no other engine has.
    """
    names = list(engines())
    first = engine == names[0]
    others = names[1:] if first else names[: names.index(engine)]
    known = {name for other in others for name in options_of(other)}
    return {name: option for name, option in options_of(engine).items() if name not in known}


def engines_with(option: str) -> list[str]:
    """The engines that have an option.

    >>> engines_with("homes"), engines_with("protocols")
    (['directory'], ['bus', 'directory'])
    """
    return [engine for engine in engines() if option in options_of(engine)]


def engine_for(machines: Sequence[str] | None, options: Mapping[str, Any]) -> str:
    """The engine of these machines; without machines, the one that has all given options.

    Raises:
        ConfigError: when the machines have several engines, or an option is for other machines.

    >>> engine_for(["alite"], {}), engine_for(None, {"homes": "first-touch"}), engine_for(None, {})
    ('directory', 'directory', 'simulate')
    """
    if machines is None:
        first, *others = engines()
        engine = next((one for one in reversed(others) if {*only_on(one)} & {*options}), first)
    else:
        engine = _core.engine_of(list(machines))
    for name in options:
        having = engines_with(name)
        if having and engine not in having:
            raise refusal(name, having, machines or [engines()[engine]["machines"]])
    return engine


def refuse_interleavings(machines: Sequence[str] | None, options: Mapping[str, Any]) -> None:
    """Refuses bounds over other turns of the threads on machines without prices.

    Raises:
        ConfigError: naming the machines; or when they cannot be used.
    """
    engine, priced = engine_for(machines, options), engines_with("policies")
    if engine not in priced:
        named = machines or [engines()[engine]["machines"]]
        raise _is_for("interleavings", "--interleavings", priced, named)


def refusal(option: str, having: Sequence[str], machines: Iterable[str]) -> ConfigError:
    """The error about an option that only other engines have than that of these machines."""
    return _is_for(option, options_of(having[0])[option].flag, having, machines)


def _is_for(
    option: str, flag: str | None, having: Sequence[str], machines: Iterable[str]
) -> ConfigError:
    whose = " and ".join(engines()[one]["machines"] for one in having)
    first = engines()[having[0]]["default_machine"]
    return option_error(
        option, flag, f" is for {whose}, such as {first}, not for {', '.join(machines)}"
    )

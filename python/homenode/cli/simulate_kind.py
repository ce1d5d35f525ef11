"""The kind of machines that `homenode simulate` is given: each kind has its own options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from homenode.cli.options import only_on
from homenode.errors import ConfigError
from homenode.options.declared import options_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["priced", "bus", "directory"]


def kind_of(options: Mapping[str, Any]) -> Kind:
    """The kind of machines that the given options are for; `bus` stands for all with caches.

    Raises:
        ConfigError: when the machines are of different kinds, or an option is for another kind.
    """
    from homenode import _core

    of_directory, of_bus = (_given(options, kind) for kind in ("directory", "bus"))
    if "machines" not in options:
        return "directory" if of_directory else "bus" if of_bus else "priced"
    kinds = _core.machine_kinds(options["machines"])
    if all(kind == "directory" for kind in kinds):
        return "directory"
    if "directory" in kinds:
        raise ConfigError(
            "machines with a directory cannot be combined with others in one run: simulate one "
            "kind at a time"
        )
    if of_directory:
        raise ConfigError(
            f"{of_directory[0]} is for machines with a directory, such as --machine dash-mesh"
        )
    cached = _core.have_caches(options["machines"])
    if of_bus and not cached:
        raise ConfigError(
            f"{of_bus[0]} is for machines with caches, such as --machine spr-2s-lines or "
            "bus-smp; machines with prices of references have policies (--policy)"
        )
    return "bus" if cached else "priced"


def refuse_options_of_others(options: Mapping[str, Any], kind: str, has: str) -> None:
    """Refuses options that machines of this kind do not have.

    Raises:
        ConfigError: naming the first, and its counterpart on these machines.
    """
    own = options_of(kind)
    for name in options:
        # An option and its variants: --realign, --realign-window.
        plain = name.removesuffix("_window")
        if plain in own:
            continue
        others = {**options_of("simulate"), **options_of("bus"), **options_of("directory")}
        flag = f"--{name.replace('_', '-')}" if name != plain else others[plain].flag
        whose = "machines with prices of references" if plain in only_on("simulate") else "others"
        raise ConfigError(f"{flag} is for {whose}; {has}")


def _given(options: Mapping[str, Any], kind: str) -> list[str]:
    """The flags of the given options that only this kind of machine has."""
    return [str(option.flag) for name, option in only_on(kind).items() if name in options]

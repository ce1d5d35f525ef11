"""What `homenode simulate` does on machines whose processors share a bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from homenode.cli.command import CacheSizes, SpecList, flattened
from homenode.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from homenode.engines.bus import BusResult

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])

# What only these machines have, with the value when nothing is said.
_NOTHING_SAID: dict[str, Any] = {
    "protocols": [],
    "cache_sizes": [],
    "associativities": None,
    "order": None,
    "scaling": None,
    "scheduler": None,
    "seed": None,
    "addresses": None,
    "kernel_model": False,
    "check": False,
    "private_ranges": (),
    "fetches": None,
    "miss_rule": None,
}
# What only machines with prices have.
_ELSEWHERE = {
    "policies": ("--policy", []),
    "realign": ("--realign", False),
    "realign_window": ("--realign-window", None),
    "force": ("--force", False),
}
_FLAGS = {"cache_sizes": "--cache-size", "associativities": "--associativity"}


def bus_options(function: Decorated) -> Decorated:
    """Adds the options of machines on a bus."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--protocol",
        "protocols",
        type=SpecList("protocol"),
        multiple=True,
        callback=flattened,
        help="On a bus: coherence protocols (homenode list protocols). Default: all.",
    ),
    click.option(
        "--cache-size",
        "cache_sizes",
        type=CacheSizes(),
        multiple=True,
        callback=flattened,
        help="On a bus: bytes in each processor's cache: 32K, 64K-2M. Default: the machine's.",
    ),
    click.option(
        "--associativity",
        "associativities",
        metavar="A[,A...]",
        help="On a bus: blocks in a set of the cache, or full. Default: the machine's.",
    ),
    click.option(
        "--order",
        type=click.Choice(["clock", "trace"]),
        help="On a bus: in cycles, on processors that a scheduler gives to processes (clock, the "
        "default), or references one after the other as in the trace, without time.",
    ),
    click.option(
        "--scaling",
        metavar="N[,N...]",
        help="On a bus: several numbers of processors, as 4,8,12 or 1-20, instead of one.",
    ),
    click.option(
        "--scheduler",
        type=click.Choice(["random", "affinity"]),
        help="On a bus: which ready process a processor takes. Default: the machine's.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        metavar="N",
        help="On a bus: for what scheduler and frames leave to chance. Default: 1.",
    ),
    click.option(
        "--addresses",
        type=click.Choice(["auto", "pages", "trace"]),
        help="On a bus: put pages of processes into frames, or take addresses as those of memory. "
        "Default: auto, the latter for traces of a whole system.",
    ),
    click.option(
        "--private-range",
        "private_ranges",
        multiple=True,
        metavar="LO-HI",
        help="On a bus: a private area, first byte and one past the last; may be repeated.",
    ),
    click.option(
        "--fetches",
        type=click.Choice(["include", "exclude"]),
        help="On a bus: count instruction fetches as reads, or leave them out. Default: include.",
    ),
    click.option(
        "--miss-rule",
        type=click.Choice(["dubois", "torrellas"]),
        help="On a bus: an invalidation miss is true sharing when what others wrote is used while "
        "the copy lives (dubois, the default), or when the word that misses was written.",
    ),
    click.option(
        "--kernel-model",
        is_flag=True,
        help="On a bus: make up what a kernel refers to at system calls, switches and ticks, by "
        "the machine's model, for a trace without a kernel.",
    ),
    click.option(
        "--check", is_flag=True, help="On a bus: check that every read returns the last write."
    ),
)


def is_on_bus(options: dict[str, Any]) -> bool:
    """Whether the options of `homenode simulate` are about machines on a bus.

    Raises:
        ConfigError: when they are about machines of both kinds, or about neither.
    """
    from homenode import _core

    said = [name for name, nothing in _NOTHING_SAID.items() if options[name] != nothing]
    on_bus = _core.are_on_bus(options["machines"]) if options["machines"] else bool(said)
    if said and not on_bus:
        flag = _FLAGS.get(said[0], "--" + said[0].rstrip("s").replace("_", "-"))
        raise ConfigError(
            f"{flag} is for machines with caches and a bus, such as --machine bus-smp; "
            "machines with prices of references have policies (--policy)"
        )
    return on_bus


def without_bus_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the other machines."""
    return {name: value for name, value in options.items() if name not in _NOTHING_SAID}


def run(trace: str, options: dict[str, Any]) -> BusResult:
    """Simulates with the options of the command line, showing progress.

    Raises:
        ConfigError: when an option of other machines is given.
    """
    import homenode
    from homenode.cli.progress import Progress

    for name, (flag, nothing) in _ELSEWHERE.items():
        if options[name] != nothing:
            raise ConfigError(
                f"{flag} is for machines with prices of references; "
                "a machine on a bus has protocols (--protocol) and caches"
            )
    chosen = {name: value for name, value in options.items() if name not in _ELSEWHERE}
    if click.get_current_context().get_parameter_source("sync") is _DEFAULT:
        # A lock is a word like any other to a cache.
        chosen["sync"] = "include"
    protocols = chosen.pop("protocols") or [row["name"] for row in homenode.table("protocols")]
    given = {name: value for name, value in chosen.items() if value not in (None, [], ())}
    with Progress("simulating") as progress:
        return homenode.simulate_bus(trace, protocols, progress=progress, **given)


_DEFAULT = click.core.ParameterSource.DEFAULT

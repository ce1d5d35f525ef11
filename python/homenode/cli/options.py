"""The options of commands, made from what the engines declare."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import click

from homenode.cli.command import Choice, Value, WholeNumber, list_option
from homenode.engines.table import only_on
from homenode.options.declared import Option, options_of
from homenode.options.kinds import KINDS
from homenode.options.tables import engines

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def study_options(
    study: str, *, without: Container[str] = (), defaults: Mapping[str, str] | None = None
) -> Callable[[Decorated], Decorated]:
    """Adds the options of a study.

    Options that are not given are ``None``, ``False`` or empty: the engine has the defaults.
    `defaults` describes those in which the command differs.
    """
    own = defaults or {}

    def decorate(function: Decorated) -> Decorated:
        for option in reversed(options_of(study).values()):
            # Re-aligning on the fly is for commands that report counts alone.
            wanted = option.kind != "window" and option.name not in without
            if wanted:
                said = replace(option, default_words=own.get(option.name, option.default_words))
                function = _decorated(function, option, said.text())
        return function

    return decorate


def simulate_options(function: Decorated) -> Decorated:
    """Adds the options of simulations on machines of all kinds."""
    first, *others = engines()
    priced = options_of(first)
    for option in reversed(
        [*priced.values(), *(o for one in others for o in only_on(one).values())]
    ):
        text = option.text()
        if option.name not in priced:
            text = _only([one for one in others if option.name in options_of(one)], text)
        elif there := _other_defaults(option, others):
            known = option.default_text is not None
            text = f"{text.removesuffix('.')}; {there}." if known else f"{text} Default {there}."
        function = _decorated(function, option, text)
    return function


def _where(engine: str) -> str:
    """The machines of an engine in a few words: ``with caches``."""
    return str(engines()[engine]["machines"]).removeprefix("machines ")


def _only(having: Iterable[str], text: str) -> str:
    """The text of an option that only machines of some engines have."""
    return f"{' or '.join(map(_where, having)).capitalize()}: {text[:1].lower()}{text[1:]}"


def _other_defaults(option: Option, engines_: Iterable[str]) -> str:
    """The defaults of an option on machines of other engines, where they differ from this one."""
    places: dict[str, list[str]] = {}
    for engine in engines_:
        other = options_of(engine).get(option.name)
        if other is not None and other.default_text not in (None, option.default_text):
            places.setdefault(str(other.default_text), []).append(_where(engine))
    return ", ".join(f"{' and '.join(where)} {default}" for default, where in places.items())


# The help of options whose defaults in a run differ from those in a simulation.
_OF_RUNS = {
    "machines": "The machine, one that has a clock: a name (homenode list machines) or a TOML "
    "file. Default: bus-smp.",
    "protocols": "The coherence protocol (homenode list protocols), with parameters as in "
    "dash:pointers=4. Default: mesi with caches, dash with a directory, sdd where nodes have "
    "controllers.",
    "processors": "Processors of the machine. Default: 8, as the number of threads is not known in "
    "advance; homenode simulate has one for each thread of the trace.",
    "homes": "With a directory: which node is the home of a page, one policy (homenode list "
    "homes), not one with hindsight. Default: first-touch.",
}


def emulator_options(function: Decorated) -> Decorated:
    """Adds the options of a program that QEMU runs: its libraries, and which emulator."""
    function = click.option(
        "--emulator",
        default="",
        metavar="QEMU",
        help="With qemu, the emulator to use. Default: the one for the program, from PATH.",
    )(function)
    return click.option(
        "--sysroot",
        default="",
        metavar="DIR",
        help="With qemu, where the libraries of a program for another instruction set are.",
    )(function)


def run_options(function: Decorated) -> Decorated:
    """Adds the options of a live program: its own, and those of the machines that have a clock."""
    clocked = {name: options_of(name) for name in engines() if "order" in options_of(name)}
    declared = {name: one for options in clocked.values() for name, one in options.items()}
    of_traces = {"order", "restart", "scaling", "threads"}
    for option in reversed([*options_of("run").values(), *declared.values()]):
        having = [engine for engine, options in clocked.items() if option.name in options]
        text = option.text()
        if 0 < len(having) < len(clocked):
            text = _only(having, text)
        if option.name not in of_traces:
            function = _decorated(function, option, _OF_RUNS.get(option.name, text))
    return function


def options_named(study: str, texts: Mapping[str, str]) -> Callable[[Decorated], Decorated]:
    """Adds the named options of a study, each with this help text."""

    def decorate(function: Decorated) -> Decorated:
        known = options_of(study)
        for name, text in reversed(list(texts.items())):
            function = _decorated(function, known[name], text)
        return function

    return decorate


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given on the command line."""
    return {
        name: value
        for name, value in options.items()
        # The number 0 is a value, although it equals False.
        if value is not None and value is not False and value not in ([], ())
    }


def _decorated(function: Decorated, option: Option, text: str) -> Decorated:
    if option.flag is None:
        return function
    help_text = text.replace("`", "")
    if KINDS[option.kind].repeated:
        help_text += " May be repeated."
    if option.kind == "window":
        # One option, two flags: one turns it on, the other sets its window.
        function = click.option(
            f"{option.flag}-window",
            f"{option.name}_window",
            type=WholeNumber(min=option.minimum),
            metavar="N",
            help=f"References of a window; implies {option.flag}. Default: 1000000.",
        )(function)
        return click.option(option.flag, option.name, is_flag=True, help=help_text)(function)
    return click.option(option.flag, option.name, help=help_text, **_type(option))(function)


def _type(option: Option) -> dict[str, Any]:
    """How click reads the values of an option."""
    kind = KINDS[option.kind]
    metavar = option.metavar or kind.metavar
    if option.kind == "flag":
        return {"is_flag": True}
    if option.choices:
        return {"type": Choice(option.choices)}
    if option.kind == "number":
        number = WholeNumber(min=option.minimum)
        return {"type": number, "metavar": metavar, "default": option.command_line_default}
    if option.kind == "costs":
        return {"type": Value(option.read), "metavar": metavar}
    if kind.is_list:
        return list_option(kind)
    return {"metavar": metavar, "multiple": kind.repeated}

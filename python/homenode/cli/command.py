"""What all commands share: examples in the help, values and lists as options."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click

from homenode.errors import ConfigError
from homenode.options import values
from homenode.options.kinds import Kind
from homenode.options.specs import unique
from homenode.options.tables import format_names

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def examples(*lines: str) -> str:
    """The examples at the end of a command's help, one a line, as written."""
    return "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines)


class _Read:
    """Reads values with `homenode.options.values`; a bad one is a usage error."""

    read: Callable[[Any], Any]

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the text."""
        try:
            return self.read(value)
        except ConfigError as error:
            raise click.BadParameter(str(error), ctx, param) from None


class Value(_Read, click.ParamType[Any]):
    """What a function reads."""

    name = "value"

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.read = read


class WholeNumber(_Read, click.IntRange):
    """A whole number within bounds."""

    def read(self, value: Any) -> int:
        """Reads the number."""
        return values.whole_number(value, self.min, self.max)


class Choice(_Read, click.Choice[str]):
    """One of several words."""

    def read(self, value: Any) -> str:
        """Checks the word."""
        return values.choice(value, self.choices)


def list_option(kind: Kind) -> dict[str, Any]:
    """What `click.option` takes for a list whose flag may be repeated."""
    joined = {"multiple": True, "callback": _flattened}
    return {"type": Value(kind.read), "metavar": kind.metavar, **joined}


def _flattened(_: click.Context, __: click.Parameter, values: tuple[list[Any], ...]) -> list[Any]:
    """Joins the lists of an option given several times."""
    return unique(item for value in values for item in value)


def json_option(function: Decorated) -> Decorated:
    """Adds ``--json``."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
    return option(function)


def format_option(way: Literal["import", "export"], default: str) -> Callable[[Any], Any]:
    """Adds ``--format`` for files of other tools."""
    names = format_names(way)
    text = f"One of {names} (homenode list formats). {default}"
    return click.option("--format", "form", metavar="FORMAT", help=text)

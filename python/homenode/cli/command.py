"""What all commands share: examples in the help, values and lists as options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from homenode.errors import ConfigError
from homenode.options.kinds import KINDS
from homenode.options.specs import unique

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])


_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+")


def examples(*lines: str) -> str:
    """The examples at the end of a command's help, one a line, as written."""
    return "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines)


class Value(click.ParamType[Any]):
    """A value of a kind that options have; a bad one is a usage error."""

    def __init__(self, kind: str) -> None:
        self.name = kind
        self._read = KINDS[kind].read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the text."""
        try:
            return value if self._read is None else self._read(value)
        except ConfigError as error:
            return self.fail(str(error), param, ctx)


class WholeNumber(click.IntRange):
    """A whole number within bounds, in plain digits: Python also reads those of other scripts."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the number; a bad one is a usage error."""
        if isinstance(value, str) and not _PLAIN_NUMBER.fullmatch(value.strip()):
            self.fail(f"{value!r} is not a valid integer.", param, ctx)
        return super().convert(value, param, ctx)


class PlainFloat(click.types.FloatParamType):
    """A number in plain digits."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the number; a bad one is a usage error."""
        if isinstance(value, str) and not value.isascii():
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return super().convert(value, param, ctx)


class Counts(click.ParamType[list[int]]):
    """A list of whole numbers from 1 on: ``100``, ``50,100``."""

    name = "counts"

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the numbers; a bad one is a usage error."""
        if isinstance(value, list):
            return value
        one: Any = WholeNumber(1, self._most)
        return unique(one.convert(word.strip(), param, ctx) for word in str(value).split(","))


def list_option(kind: str) -> dict[str, Any]:
    """What `click.option` takes for a list whose flag may be repeated."""
    joined = {"multiple": True, "callback": _flattened}
    return {"type": Value(kind), "metavar": KINDS[kind].metavar, **joined}


def _flattened(_: click.Context, __: click.Parameter, values: tuple[list[Any], ...]) -> list[Any]:
    """Joins the lists of an option given several times."""
    return unique(item for value in values for item in value)


def json_option(function: Decorated) -> Decorated:
    """Adds ``--json``."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
    return option(function)

"""What all commands share: examples in the help, lists as options, where results go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from homenode.options.specs import parse_block_sizes, parse_cache_sizes, split_specs, unique

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])


_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+")


def examples(*lines: str) -> str:
    """The examples at the end of a command's help, one a line, as written."""
    return "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines)


class SpecList(click.ParamType[list[str]]):
    """A comma-separated list of machines or policies, each perhaps with parameters."""

    def __init__(self, what: str) -> None:
        self.name = what
        self._what = what

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Splits the text; a bad list is a usage error."""
        from homenode.errors import ConfigError

        try:
            return split_specs(value, self._what)
        except ConfigError as error:
            return self.fail(str(error), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """How the help shows the value."""
        letter = self._what[0].upper()
        return f"{letter}[,{letter}...]"


class BlockSizes(click.ParamType[list[int]]):
    """A list of block sizes: ``64``, ``4K``, ``64-8192``."""

    name = "sizes"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the sizes; a bad one is a usage error."""
        from homenode.errors import ConfigError

        try:
            return parse_block_sizes(value)
        except ConfigError as error:
            return self.fail(str(error), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """How the help shows the value."""
        return "B[,B...]"


class CacheSizes(BlockSizes):
    """A list of cache sizes: ``32K``, ``48K``, ``64K-2M``."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the sizes; a bad one is a usage error."""
        from homenode.errors import ConfigError

        try:
            return parse_cache_sizes(value)
        except ConfigError as error:
            return self.fail(str(error), param, ctx)


class Costs(click.ParamType[dict[str, float]]):
    """Kernel costs: ``fault=500,flush=20``."""

    name = "costs"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Splits the text; the engine knows the names."""
        costs = {}
        for item in value.split(","):
            name, equals, number = item.partition("=")
            try:
                costs[name.strip()] = float(number)
            except ValueError:
                equals = ""
            if not equals or not number.isascii():
                self.fail(f"{item!r}: expected name=microseconds, as in fault=500", param, ctx)
        return costs

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """How the help shows the value."""
        return "NAME=US[,NAME=US...]"


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


def flattened(_: click.Context, __: click.Parameter, values: tuple[list[Any], ...]) -> list[Any]:
    """Joins the lists of an option given several times."""
    return unique(item for value in values for item in value)


def json_option(function: Decorated) -> Decorated:
    """Adds ``--json``."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
    return option(function)


def table_options(function: Decorated) -> Decorated:
    """Adds ``--json``, ``--csv FILE`` and ``--parquet FILE``."""
    for option in (
        click.option("--parquet", metavar="FILE", help="Write the table as Parquet."),
        click.option("--csv", metavar="FILE", help="Write the table as CSV; - prints it."),
    ):
        function = option(function)
    return json_option(function)

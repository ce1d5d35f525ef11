"""What all commands share: examples in the help, lists as options, where results go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from homenode.options.specs import parse_block_sizes, parse_cache_sizes, split_specs, unique

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])


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


class Counts(click.ParamType[list[int]]):
    """A list of whole numbers from 1 on: ``100``, ``50,100``."""

    name = "counts"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Reads the numbers; a bad one is a usage error."""
        if isinstance(value, list):
            return value
        one: Any = click.IntRange(min=1)
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


def simulation_options(function: Decorated) -> Decorated:
    """Adds the options that say how a trace is replayed."""
    for option in reversed(_SIMULATION):
        function = option(function)
    return function


def optimum_options(function: Decorated) -> Decorated:
    """Adds the same but for policies, for commands that are about the optimum."""
    for option in reversed(_SIMULATION):
        if option is not _POLICY:
            function = option(function)
    return function


_POLICY: Callable[[Any], Any] = click.option(
    "--policy",
    "policies",
    type=SpecList("policy"),
    multiple=True,
    callback=flattened,
    help="Policies (homenode list policies), with parameters as in delay:n=50,limit=2. "
    "Default: all made for the machines that they can run.",
)

_SIMULATION: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--machine",
        "machines",
        type=SpecList("machine"),
        multiple=True,
        callback=flattened,
        help="Machines: names (homenode list machines), TOML files, or prices in place, "
        "as in prices:r=15,R=59.",
    ),
    _POLICY,
    click.option(
        "--block-size",
        "block_sizes",
        type=BlockSizes(),
        multiple=True,
        callback=flattened,
        help="Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192.",
    ),
    click.option(
        "--processors",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processors; thread i runs on i mod N. Default: the trace's threads.",
    ),
    click.option(
        "--private",
        type=click.Choice(["local", "exclude", "shared"]),
        help="Charge references to private memory as local, leave them out, or treat them as "
        "all others. Default: exclude on page-coherence machines such as markatos, else local.",
    ),
    click.option(
        "--sync",
        type=click.Choice(["exclude", "include"]),
        default="exclude",
        show_default=True,
        help="Leave out or count references to synchronisation variables.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Cores to use (the result does not depend on it). Default: all.",
    ),
    click.option("--force", is_flag=True, help="Accept prices that the cost model calls invalid."),
)

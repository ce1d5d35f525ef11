"""Where the results of a command go: standard output, and the files of ``-o``.

A command that prints results has the parameter `Outputs`, made of the options of `result_options`.
"""

import errno
import io
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from homenode.cli.command import Choice
from homenode.cli.output import print_json
from homenode.errors import ConfigError
from homenode.files import check_output, same_file
from homenode.results.writers.content import Content, Writer

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where results go."""

    as_json: bool = False
    files: tuple[tuple[str, Writer], ...] = ()
    own: str | None = None
    """The file of the command's own format: a trace, a page."""

    @property
    def is_text_wanted(self) -> bool:
        """Whether tables for people are printed or written."""
        return self._is_text_printed or any(writer.name == "txt" for _, writer in self.files)

    @property
    def _is_text_printed(self) -> bool:
        return not self.as_json and not self.files

    def check(self, *inputs: str, others: tuple[str | None, ...] = ()) -> None:
        """Checks, before any work is done, that the files can be written.

        Args:
            inputs: files that are read, which no output may replace.
            others: further files that the command writes.

        Raises:
            OSError: as `homenode.files.check_output`, and when two of them are the same file.
        """
        named = [path for path, _ in self.files]
        wanted = [path for path in (*others, self.own, *named) if path is not None]
        for i, path in enumerate(wanted):
            check_output(path, *inputs)
            if any(same_file(path, other) for other in wanted[:i]):
                raise OSError(errno.EINVAL, "two outputs have this name; give each its own", path)

    def show(
        self,
        document: Callable[[], Any],
        columns: Callable[[], dict[str, list[Any]]],
        text: Callable[[], None],
    ) -> None:
        """Writes the files, then prints JSON or, where there is no file, tables.

        Args:
            document: what JSON has.
            columns: rows without dictionaries in them, by column.
            text: prints the tables for people.

        Raises:
            OSError: when a file cannot be written.
        """
        from homenode.results import writers

        content = Content(document, columns, lambda: _printed(text))
        for path, writer in self.files:
            writers.write(content, path, writer)
        if self.as_json:
            print_json(document())
        elif self._is_text_printed:
            text()


def _printed(text: Callable[[], None]) -> str:
    """What is printed on standard output, as it is in a file."""
    with redirect_stdout(io.StringIO()) as printed:
        text()
    return printed.getvalue()


def result_options(
    own: Mapping[str, str] | None = None,
) -> Callable[[Decorated], Decorated]:
    """Adds ``--json``, ``-o FILE``, ``--format``, ``--csv FILE`` and ``--parquet FILE``.

    The function gets them as one `Outputs`, its parameter ``outputs``.

    Args:
        own: suffixes of formats that only this command has, each with what it writes.
    """
    suffixes = dict(own or {})

    def decorate(function: Decorated) -> Decorated:
        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            given = {name: options.pop(name) for name in ("as_json", "output", "form")}
            named = {name: options.pop(name) for name in ("csv", "parquet")}
            outputs = _outputs(given, named, suffixes)
            return function(*arguments, outputs=outputs, **options)

        described: Any = run
        for option in reversed(_options(suffixes)):
            described = option(described)
        return described  # type: ignore[no-any-return]

    return decorate


def _options(own: Mapping[str, str]) -> list[Callable[[Any], Any]]:
    from homenode.results.writers import TABLE

    results = ", ".join(f".{writer.suffixes[0]}" for writer in TABLE)
    special = "".join(f" Or .{suffix}: {what}." for suffix, what in own.items())
    return [
        click.option("--json", "as_json", is_flag=True, help="Print JSON for programs."),
        click.option(
            "-o",
            "--output",
            "output",
            multiple=True,
            metavar="FILE",
            help=f"Write the results in the format of the name's suffix: {results}; - prints them."
            f"{special} May be repeated.",
        ),
        click.option(
            "--format",
            "form",
            type=Choice([writer.name for writer in TABLE]),
            help="The format of -o, whatever its suffix, as for a pipe.",
        ),
        click.option("--csv", metavar="FILE", help="The same as -o FILE in CSV."),
        click.option("--parquet", metavar="FILE", help="The same as -o FILE in Parquet."),
    ]


def _outputs(
    given: dict[str, Any], named: Mapping[str, str | None], own: Mapping[str, str]
) -> Outputs:
    from homenode.results import writers

    form = given["form"]
    if form is not None and not given["output"]:
        raise ConfigError("--format is the format of -o; name a file, or - for standard output")
    files: list[tuple[str, Writer]] = []
    special = []
    for path in given["output"]:
        suffix = writers.suffix_of(path)
        if suffix in own:
            special.append(path)
        elif form is not None or path == "-":
            files.append((path, writers.named(form or "txt")))
        elif own and not suffix:
            # Only commands with a format of their own take names without a suffix.
            special.append(path)
        else:
            files.append((path, writers.of_suffix(path, own)))
    if len(special) > 1:
        raise ConfigError(f"-o {special[1]}: only one such file is written; name one")
    files += [(path, writers.named(name)) for name, path in named.items() if path is not None]
    return Outputs(given["as_json"], tuple(files), special[0] if special else None)

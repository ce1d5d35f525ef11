"""Writers of results: one file a format, and the table that the suffix of a name chooses from.

A writer gets a `Content` and an open binary file. Files appear under their name only when they are
complete; devices, pipes and ``-`` are written to as they are.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from homenode.errors import ConfigError
from homenode.files import replacing
from homenode.options.named import find
from homenode.results.writers import csv, json, parquet, text
from homenode.results.writers.content import Content, Writer

TABLE: tuple[Writer, ...] = (json.ENTRY, csv.ENTRY, parquet.ENTRY, text.ENTRY)


def named(form: str) -> Writer:
    """The writer of this name.

    Raises:
        ConfigError: when there is none.
    """
    return find("format of results", TABLE, form)


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix of a name, in lower case, without the dot."""
    return Path(path).suffix[1:].lower()


def of_suffix(path: str | os.PathLike[str], more: Mapping[str, str] | None = None) -> Writer:
    """The writer that the suffix of a name stands for.

    Args:
        path: the name of a file.
        more: for the error, other suffixes that are possible there.

    Raises:
        ConfigError: when no writer has the suffix.
    """
    suffix = suffix_of(path)
    for writer in TABLE:
        if suffix in writer.suffixes:
            return writer
    known = [writer.suffixes[0] for writer in TABLE] + list(more or {})
    listed = ", ".join(f".{one}" for one in known[:-1]) + f" or .{known[-1]}"
    found = f"no format of results has the suffix .{suffix}" if suffix else "it has no suffix"
    raise ConfigError(f"{str(path)!r}: {found}; end the name with {listed}, or give the format")


def write(content: Content, path: str | os.PathLike[str], writer: Writer) -> None:
    """Writes results to a file that appears when it is complete, or to ``-``.

    Raises:
        OSError: when the file cannot be written; it then names `path`.
    """
    with _opened(path) as file:
        writer.write(content, file)


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    if str(path) != "-":
        with replacing(path) as file:
            yield file
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()

"""CSV: one line a row, with a heading."""

import csv
import io
import sys
from typing import IO

from homenode.results.writers.content import Content, Writer
from homenode.sanitize import sanitized


def _write(content: Content, file: IO[bytes]) -> None:
    columns = content.columns()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    # Names in rows come from traces: on a terminal their control characters would act.
    shown = sanitized(text.getvalue(), lines=True) if _is_terminal(file) else text.getvalue()
    file.write(shown.encode(errors="surrogateescape"))


def _is_terminal(file: IO[bytes]) -> bool:
    return file is sys.stdout.buffer and sys.stdout.isatty()


ENTRY = Writer("csv", "one line a row, with a heading", ("csv",), _write)

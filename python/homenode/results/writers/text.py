"""Text for people: the tables of a command, or a plain table of the rows."""

from typing import IO, Any

from homenode.options.specs import plain_number
from homenode.results.writers.content import Content, Writer
from homenode.sanitize import sanitized


def _write(content: Content, file: IO[bytes]) -> None:
    text = table(content.columns()) if content.text is None else content.text()
    file.write(text.encode(errors="surrogateescape"))


def table(columns: dict[str, list[Any]]) -> str:
    """A table of columns, numbers to the right.

    >>> print(table({"policy": ["ace", "optimal"], "cost": [1234, None]}), end="")
    policy    cost
    ace      1,234
    optimal      -
    """
    cells = [[name, *map(_cell, values)] for name, values in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    numeric = [all(isinstance(v, int | float | None) for v in vs) for vs in columns.values()]
    lines = (
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in zip(*cells, strict=True)
    )
    return "".join(f"{line}\n" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return plain_number(value)
    return sanitized(str(value))


ENTRY = Writer("txt", "tables for people", ("txt",), _write)

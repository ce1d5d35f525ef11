"""Results in notebooks."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from homenode.options.specs import plain_number

# Rows and columns that fit a notebook.
_ROWS_MAX = 20
_COLUMNS_MAX = 12


def table(columns: Mapping[str, Sequence[Any]], caption: str) -> Markup:
    """An HTML table of the first rows and columns.

    Args:
        columns: values by name, all of one length.
        caption: what they are; says how many there are in all.

    >>> table({"policy": ["ace"], "mcpr": [1.25]}, "One outcome").count("<td")
    2
    """
    names = list(columns)[:_COLUMNS_MAX]
    count = len(next(iter(columns.values()), ()))
    left = [f"{count - _ROWS_MAX} more rows"] * (count > _ROWS_MAX)
    left += [f"{len(columns) - len(names)} more columns"] * (len(columns) > len(names))
    said = f"{caption} ({', '.join(left)}: to_pandas() has all)" if left else caption
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in names)
    rows = (
        Markup("<tr>{}</tr>").format(Markup("").join(_cell(columns[name][row]) for name in names))
        for row in range(min(count, _ROWS_MAX))
    )
    body = Markup("").join(rows)
    return Markup(
        "<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    ).format(said, head, body)


def _cell(value: Any) -> Markup:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Markup('<td style="text-align:right">{}</td>').format(plain_number(value))
    shown = "" if value is None else escape(str(value))
    return Markup('<td style="text-align:left">{}</td>').format(shown)

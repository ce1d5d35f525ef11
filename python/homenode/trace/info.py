"""`TraceInfo`: the facts about a trace, in a few lines."""

from typing import Any

from markupsafe import Markup

# Lists and dictionaries with more entries are shown by their number.
_ENTRIES_MAX = 8
_WIDTH = 100


class TraceInfo(dict[str, Any]):
    """What ``homenode info --json`` prints, as a dictionary that fits a screen when it is shown.

    >>> print(TraceInfo(references=3, metadata={"program": "a", "ranges": [{}] * 1000}))
    references  3
    metadata
      program   a
      ranges    1,000 entries
    """

    def __repr__(self) -> str:
        lines = list(_lines(self, ""))
        width = max((len(name) for name, _ in lines), default=0) + 2
        return "\n".join(f"{name:{width}}{text}".rstrip()[:_WIDTH] for name, text in lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """The same, for notebooks."""
        return Markup("<pre>{}</pre>").format(repr(self))


def _lines(entries: dict[str, Any], indent: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in entries.items():
        if isinstance(value, dict) and indent == "" and value:
            found.append((name, ""))
            found += _lines(value, "  ")
        else:
            found.append((indent + name, _shown(value)))
    return found


def _shown(value: Any) -> str:
    if isinstance(value, (list, dict)):
        plain = len(value) <= _ENTRIES_MAX and not any(isinstance(v, (list, dict)) for v in value)
        return str(value) if plain else f"{len(value):,} entries"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "-" if value in (None, "") else str(value)

"""What every HTML page is rendered with."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from homenode.shown import shown


def environment() -> Environment:
    """The templates of this package: values are escaped, and one that is missing is an error."""
    return Environment(
        loader=PackageLoader("homenode.report"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finalize(value: Any) -> Any:
    """Text of ours is marked as safe; what others named is shown without control characters."""
    return shown(value, lines=True) if type(value) is str else value

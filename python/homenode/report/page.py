"""The environment that renders every HTML page."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from homenode.sanitize import sanitized


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
    """Our own text is marked as safe; names from outside are shown without control characters."""
    return sanitized(value, lines=True) if type(value) is str else value

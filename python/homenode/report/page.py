"""What every HTML page is rendered with."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """The templates of this package: values are escaped, and one that is missing is an error."""
    return Environment(
        loader=PackageLoader("homenode.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""The environment that renders every HTML page."""

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from homenode.options.specs import format_size, plain_number
from homenode.sanitize import sanitized


def script_json(value: Any) -> Markup:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - no "<" is left, so the element cannot end early


def environment() -> Environment:
    """The templates of this package: values are escaped, and one that is missing is an error."""
    made = Environment(
        loader=PackageLoader("homenode.report"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"size": format_size, "num": plain_number}
    return made


def _finalize(value: Any) -> Any:
    """Our own text is marked as safe; names from outside are shown without control characters."""
    return sanitized(value, lines=True) if type(value) is str else value

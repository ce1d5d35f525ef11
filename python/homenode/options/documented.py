"""Signatures and documentation of functions that take the options of a study.

A function declares its options once, as ``**options``; a type checker knows them from
`homenode.options.typed`. Here `help` and editors get to know them, too: each is a parameter with
its type, and is described where the docstring says ``options: see``.
"""

import inspect
import textwrap
from collections.abc import Callable
from typing import TypeVar

from homenode.options.declared import Option, options_of

Function = TypeVar("Function", bound=Callable[..., object])

_WIDTH = 96


def documented(*studies: str) -> Callable[[Function], Function]:
    """Gives a function the options of studies as parameters, in its signature and its docstring.

    Of an option that several have, it is that of the first.

    >>> import inspect
    >>> import homenode as hn
    >>> str(inspect.signature(hn.lines).parameters["machine"])
    "machine: 'str | None' = 'spr-2s-lines'"
    """

    def decorate(function: Function) -> Function:
        all_options = {o.name: o for study in reversed(studies) for o in options_of(study).values()}
        names = dict.fromkeys(name for study in studies for name in options_of(study))
        options = [all_options[name] for name in names if not all_options[name].argument]
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        known = {parameter.name for parameter in own}
        more = [_parameter(option) for option in options if option.name not in known]
        described = signature.replace(parameters=[*own, *more])
        vars(function)["__signature__"] = described
        function.__doc__ = _described(function.__doc__ or "", options)
        return function

    return decorate


def _parameter(option: Option) -> inspect.Parameter:
    default = None if isinstance(option.default, list) else option.default
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=option.annotation,
    )


def _described(doc: str, options: list[Option]) -> str:
    """A docstring with a line for each option in place of ``options: see``."""
    lines = doc.split("\n")
    at = next((n for n, line in enumerate(lines) if line.lstrip().startswith("options: see")), None)
    if at is None:
        return doc
    indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
    said: list[str] = []
    for option in options:
        words = f"{option.name}: {option.text().replace('`', '``')}"
        said += textwrap.wrap(
            words,
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=f"{indent}    ",
            break_on_hyphens=False,
        )
    return "\n".join([*lines[:at], *said, *lines[at + 1 :]])

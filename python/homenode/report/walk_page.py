"""What the pages of `homenode explain` have in common, whatever machine the protocols are for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from homenode.options.specs import format_size, plain_number
from homenode.report import steps
from homenode.report.page import environment

if TYPE_CHECKING:
    from collections.abc import Callable

Data = dict[str, Any]

# Classes of misses, and what the columns of their counts are called.
COUNTED = (
    ("cold", "cold"),
    ("replacement", "replacement"),
    ("invalidation_true", "true"),
    ("invalidation_false", "false"),
    ("invalidation_passive", "passive"),
    ("open", "not known yet"),
)
# From this number of addresses on, only the first and the last are shown.
_LISTED = 3


def render(template: str, explained: tuple[Data, str], *, script_data: Any, **values: Any) -> str:
    """A page as HTML text.

    Args:
        template: the file.
        explained: what ``homenode explain --json`` prints, and the command line that makes the
            page again; left out if empty.
        script_data: what the page's script reads.
        values: what else the template shows.
    """
    data, command = explained
    templates = environment()
    templates.filters |= {"size": format_size, "num": plain_number, "letter": steps.letter}
    templates.filters["display"] = steps.display
    text = templates.get_template(template).render(
        title=title([str(protocol["name"]) for protocol in data["protocols"]]),
        data=data,
        first=data["protocols"][0]["walk"],
        about=about(data),
        command=command,
        script_data=_script_json(script_data),
        **values,
    )
    return text + ("" if text.endswith("\n") else "\n")


def references(
    data: Data,
    text: Callable[[Data, Data], str],
    cache: Callable[[Data], int],
    mark: Callable[[Data], str],
) -> list[Data]:
    """The list of steps to jump to: the reference, and its outcome under each protocol.

    Args:
        data: what ``homenode explain --json`` prints.
        text: a step of a walk in a few letters.
        cache: whose step it is, by place on the page.
        mark: the outcome under a protocol: `hit`, `bus` or `miss`.
    """
    walks = [protocol["walk"] for protocol in data["protocols"]]
    return [
        {
            "text": text(step, walks[0]),
            "cache": cache(step),
            "number": data["trace"]["numbers"][step["reference"]] if data["trace"] else None,
            "marks": [mark(walk["steps"][index]) for walk in walks],
        }
        for index, step in enumerate(walks[0]["steps"])
    ]


def title(names: list[str]) -> str:
    """The title of the page.

    >>> title(["mesi", "dragon"])
    'MESI and Dragon, side by side'
    """
    shown = [steps.display(name) for name in names]
    if len(shown) == 1:
        return f"{shown[0]}, step by step"
    return f"{', '.join(shown[:-1])} and {shown[-1]}, side by side"


def about(data: Data) -> tuple[str, str]:
    """The title of a walk, and a sentence about it."""
    example, part = data["example"], data["trace"]
    if example is not None:
        return example["summary"], example["about"]
    count = len(part["numbers"])
    first, last = part["numbers"][0], part["numbers"][-1]
    blocks = len(data["protocols"][0]["walk"]["blocks"])
    which = f"first {count} references" if count > 1 else "first reference"
    numbers = f"numbers {first:,} to {last:,}" if count > 1 else f"number {first:,}"
    where = "the block" if blocks == 1 else f"the {blocks} blocks"
    more = "more follow" if part["cut"] else "there are no others"
    return Path(part["name"]).name, (
        f"The {which} to {where} at {_addresses(data)}, {numbers} of the trace; "
        f"{more}. References to other blocks are left out, so that they replace nothing here."
    )


def _addresses(data: Data) -> str:
    found = [f"{block['address']:#x}" for block in data["protocols"][0]["walk"]["blocks"]]
    return " and ".join(found) if len(found) < _LISTED else f"{found[0]} to {found[-1]}"


def _script_json(value: Any) -> Markup:
    """JSON that may stand inside a script element."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704 - no "<" is left, so the element cannot end early

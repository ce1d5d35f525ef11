"""The options of every study, as the engines declare them.

An option is declared once: as a field of a configuration in Rust (``crates/sim``), or in
`homenode.options.python_only` where no engine knows it. The command line, the checks, the types and
the documentation are made from here.
"""

import json
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from homenode import _core
from homenode.options import values
from homenode.options.kinds import KINDS
from homenode.options.python_only import OPTIONS as PYTHON_ONLY

REALIGN_WINDOW = 1_000_000
"""References of a window of re-alignment (Markatos and Chronaki, section 3.4)."""

_COUNT_SYNCHRONISATION = ("sharing", "advise")

# A study's own defaults of options that it has in common with others.
_DEFAULTS: dict[str, dict[str, str]] = {
    "simulate": {"machines": "`spr-2s`", "block_sizes": "the machine's"},
    "optimal": {"machines": "`numa`", "block_sizes": "4K"},
    "sharing": {"machines": "`spr-2s-lines`, `cc`", "block_sizes": "64, 4K"},
    "advise": {
        "machines": "`spr-2s-lines`",
        "policies": "`mesi` for lines, `dash` on machines with a directory; with prices what the "
        "first machine suggests: `inv` on page-coherence machines, `migrate` without remote "
        "reference, else `optimal`",
        "block_sizes": "the first machine's",
    },
    "sensitivity": {"machines": "`spr-2s-lines`, `spr-2s`", "block_sizes": "4K, with prices"},
}

STUDIES = (*_core.studies_with_options(), *(name for name in PYTHON_ONLY if name == "sensitivity"))
"""The studies that have options, in the order of the documentation."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of one study."""

    name: str
    description: str
    kind: str
    """The kind of its values, a key of `homenode.options.kinds.KINDS`."""
    default: Any = None
    """The default; ``None`` where it is not one value."""
    choices: dict[str, str] = field(default_factory=dict)
    """The values of a choice, each with its meaning."""
    minimum: int | None = None
    flag: str | None = None
    """The flag on the command line, if there is one."""
    metavar: str | None = None
    default_words: str | None = None
    """The default as a sentence, where it is not one value."""
    command_line_default: Any = None
    """The default on the command line, where it differs."""
    argument: bool = False
    """Whether the Python function has a parameter of its own for it."""
    only_order: str | None = None
    """The order of references that it applies to, unless it applies to all."""

    @property
    def annotation(self) -> str:
        """The type of its values in Python; ``None`` stands for the default."""
        plain = KINDS[self.kind].annotation
        return plain if self.kind == "flag" else f"{plain} | None"

    @property
    def label(self) -> str:
        """Its name in errors, with its flag where that is another word."""
        spelled = "--" + self.name.replace("_", "-")
        return self.name if self.flag in {None, spelled} else f"{self.name} ({self.flag})"

    def read(self, given: Any) -> Any:
        """A value as the engine takes it, from what a user gives.

        Raises:
            ConfigError: when it is a value that the option cannot have; without the option's name.
        """
        if self.choices:
            return values.choice(given, self.choices)
        if self.kind == "window" and isinstance(given, bool):
            return REALIGN_WINDOW if given else None
        if self.kind in {"number", "window"}:
            return values.whole_number(given, self.minimum)
        return KINDS[self.kind].read(given)

    def text(self) -> str:
        """What it means, with its choices and its default."""
        words = " ".join(self.description.split())
        if self.choices:
            meanings = "; ".join(f"`{word}`: {_begun(doc)}" for word, doc in self.choices.items())
            words = f"{words} {meanings}."
        return words if self.default_text is None else f"{words} Default: {self.default_text}."

    @property
    def default_text(self) -> str | None:
        """The default in words; ``None`` if it is not documented."""
        default = self._default_text()
        if self.command_line_default is None:
            return default
        return f"{default}; {self.command_line_default} on the command line"

    def _default_text(self) -> str | None:
        if self.default_words is not None:
            return self.default_words
        if self.kind == "flag":
            return "yes" if self.default else None
        if self.default in (None, []):
            return None
        listed = self.default if isinstance(self.default, list) else [self.default]
        plain = self.kind == "number" or self.kind.endswith("size")
        return ", ".join(str(one) if plain else f"`{one}`" for one in listed)


@cache
def schema(study: str) -> dict[str, Any]:
    """The JSON schema of a study's options, with Python's own.

    Raises:
        ConfigError: when there is no such study.
    """
    own = PYTHON_ONLY.get(study, {})
    if study in _core.studies_with_options():
        found: dict[str, Any] = json.loads(_core.schema(study))
    else:
        found = {"title": study, "type": "object", "properties": {}, "x-order": []}
    found["properties"] |= own
    found["x-order"] += list(own)
    return found


@cache
def options_of(study: str) -> dict[str, Option]:
    """The options of a study by name, in the order in which they are declared.

    >>> list(options_of("pmap"))[:4]
    ['page_size', 'policy', 'limit', 'owner_copy']
    >>> options_of("bus")["miss_rule"].default
    'dubois'
    """
    found = schema(study)
    definitions = found.get("$defs", {})
    options: dict[str, Option] = {}
    for name in found["x-order"]:
        declared = found["properties"][name]
        if other := declared.get("x-options-of"):
            options |= options_of(other)
            # Studies of sharing count references that synchronise threads.
            if study in _COUNT_SYNCHRONISATION:
                options["sync"] = replace(options["sync"], default="include")
        elif not declared.get("x-internal", False):
            options[name] = _option(name, declared, definitions)
    for name, words in _DEFAULTS.get(study, {}).items():
        options[name] = replace(options[name], default_words=words)
    return options


def _option(name: str, declared: dict[str, Any], definitions: dict[str, Any]) -> Option:
    choices = _choices(declared, definitions)
    return Option(
        name=name,
        description=declared["description"],
        kind=declared.get("x-value") or _kind(declared, choices),
        default=declared.get("default"),
        choices=choices,
        minimum=declared.get("minimum"),
        flag=declared.get("x-flag", "--" + name.replace("_", "-")),
        metavar=declared.get("x-metavar"),
        default_words=declared.get("x-default"),
        command_line_default=declared.get("x-command-line-default"),
        argument=declared.get("x-argument", False),
        only_order=declared.get("x-only-order"),
    )


def _choices(declared: dict[str, Any], definitions: dict[str, Any]) -> dict[str, str]:
    """The words of an enumeration with their meanings; empty for any other type."""
    referred = [declared, *declared.get("anyOf", ())]
    names = [one["$ref"].rsplit("/", 1)[-1] for one in referred if "$ref" in one]
    if not names:
        return {}
    listed = definitions[names[0]].get("oneOf", ())
    return {one["const"]: " ".join(one["description"].split()) for one in listed}


def _kind(declared: dict[str, Any], choices: dict[str, str]) -> str:
    if choices:
        return "choice"
    types = declared.get("type", ())
    named = {types} if isinstance(types, str) else set(types)
    if "boolean" in named:
        return "flag"
    return "number" if "integer" in named else "text"


def _begun(sentence: str) -> str:
    """Makes a sentence a clause of another one."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")

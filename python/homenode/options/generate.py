"""Generates files from the declared options: types, documentation, JSON schemas.

``python -m homenode.options.generate`` (``make generate``) writes the files; a test fails when one
of them is not what the declarations say.
"""

import json
import sys
from pathlib import Path

from homenode.options.declared import STUDIES, Option, options_of, schema
from homenode.options.tables import engines

_HEADING = "Made by `make generate` from the options that the engines declare"

_TITLES = {
    name: f"{row['machines'].capitalize()}: `homenode simulate`, `homenode.simulate`"
    for name, row in engines().items()
} | {
    "bus-point": "One point of a simulation on a bus",
    "run": "Live programs: `homenode run`, `homenode.run`",
    "optimal": "The optimum: `homenode optimal`, `homenode.optimal`",
    "sharing": "False sharing: `homenode sharing`, `homenode.sharing`",
    "lines": "Machines of today: `homenode sharing`, `homenode.lines`",
    "advise": "Advice: `homenode advise`, `homenode.advise`",
    "sensitivity": "Orders: `homenode sensitivity`, `homenode.sensitivity`",
    "tlb": "TLBs: `homenode tlb`, `homenode.tlb`",
    "pmap": "The ACE's page manager: `homenode pmap`, `homenode.pmap`",
    "picture": "Pictures: `homenode picture`, `homenode.picture`",
    "explain": "Protocols explained: `homenode explain`, `homenode.explain`",
}

# Studies that no Python function takes as keywords have no typed dictionary.
_TYPED = [study for study in _TITLES if study not in ("bus-point", "run")]


def generated() -> dict[str, str]:
    """The text of every generated file, by its path in the project."""
    files = {"python/homenode/options/typed.py": types(), "docs/options.md": page()}
    for study in STUDIES:
        text = json.dumps(schema(study), indent=2, ensure_ascii=False)
        files[f"docs/schemas/{study}.json"] = text + "\n"
    return files


def types() -> str:
    """The typed dictionaries of all studies and of all engines, as a Python module."""
    text = "\n\n".join([*map(_class, _TYPED), _class_of_engines()])
    return (
        f'"""The types of all options, which `docs/options.md` describes.\n\n'
        f'{_HEADING}: do not edit.\n"""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING, Any, TypedDict\n\n"
        "if TYPE_CHECKING:\n"
        "    import os\n"
        "    from collections.abc import Iterable, Mapping\n\n\n" + text
    )


def _class(study: str) -> str:
    """The typed dictionary of a study."""
    parent = _parent(study)
    inherited = {} if parent is None else options_of(parent)
    fields = {
        option.name: option.annotation
        for option in options_of(study).values()
        if not option.argument and option.name not in inherited
    }
    base = "TypedDict" if parent is None else _name(parent)
    summary = f"{_TITLES[study].replace(': ', ': options of ')}."
    return _typed_dictionary(f"{_name(study)}({base}, total=False)", summary, fields)


def _class_of_engines() -> str:
    """The typed dictionary of the options of all engines."""
    annotations: dict[str, list[str]] = {}
    for engine in engines():
        for option in options_of(engine).values():
            if not option.argument and option.name not in ("machines", "block_sizes"):
                annotations.setdefault(option.name, []).extend(option.annotation.split(" | "))
    names = [f"`{_name(engine)}`" for engine in engines()]
    return _typed_dictionary(
        "EngineOptions(TypedDict, total=False)",
        f"The options of {', '.join(names[:-1])} and {names[-1]}.",
        {name: " | ".join(dict.fromkeys(parts)) for name, parts in annotations.items()},
    )


def _typed_dictionary(declared: str, summary: str, fields: dict[str, str]) -> str:
    lines = [f"class {declared}:", f'    """{summary}"""', ""]
    lines += [f"    {name}: {annotation}" for name, annotation in fields.items()]
    return "\n".join(lines) + "\n"


def _parent(study: str) -> str | None:
    """The engine whose options a study has besides its own, if it has those of one."""
    declared = schema(study)["properties"].values()
    return next((of for one in declared if (of := one.get("x-options-of")) in engines()), None)


def _name(study: str) -> str:
    """The name of a study's typed dictionary."""
    return f"{study.capitalize()}Options"


def page() -> str:
    """The page about all options, in Markdown."""
    parts = [
        f"# Options\n\n<!-- {_HEADING}: do not edit. -->\n",
        "Every option of every study, as the command line and Python know it. Each is declared "
        "once, with the engine that acts upon it; this page, the help of the commands, the types "
        "and the [JSON schemas](https://json-schema.org) in `docs/schemas` follow from that.\n",
        "Where no flag is given, the option is one of Python's only, or the command has it as an "
        "argument. Machines, policies and block sizes are parameters of Python's functions, some "
        "without a default.\n",
    ]
    for study, title in _TITLES.items():
        parent = _parent(study)
        inherited = {} if parent is None else options_of(parent)
        parts.append(f"## {title}\n")
        if parent is not None:
            parts.append(f"Beside the options of `{parent}`:\n")
        own = [o for o in options_of(study).values() if inherited.get(o.name) != o]
        rows = [_row(option) for option in own]
        parts.append("| option | flag | meaning |\n|---|---|---|\n" + "".join(rows))
    return "\n".join(parts)


def _row(option: Option) -> str:
    flag = "" if option.flag is None else f"`{option.flag}`"
    text = option.text().replace("|", "\\|")
    return f"| `{option.name}` | {flag} | {text} |\n"


def main(root: Path) -> None:
    """Writes the files under the project's root."""
    for path, text in generated().items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))

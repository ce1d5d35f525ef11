"""Generates files from the declared options: types, documentation, JSON schemas.

``python -m homenode.options.generate`` (``make generate``) writes the files; a test fails when one
of them is not what the declarations say.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from homenode.options.declared import STUDIES, options_of, schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from homenode.options.declared import Option

_WIDTH = 100
_HEADING = "Made by `make generate` from the options that the engines declare"

# The typed dictionary of each study, and the study whose options it has besides its own.
_TYPES: dict[str, tuple[str, str | None]] = {
    "simulate": ("SimulateOptions", None),
    "bus": ("BusOptions", None),
    "bus-point": ("BusPoint", None),
    "run": ("RunOptions", None),
    "directory": ("DirectoryOptions", None),
    "optimal": ("OptimalOptions", "simulate"),
    "sharing": ("SharingOptions", "simulate"),
    "lines": ("LinesOptions", None),
    "advise": ("AdviseOptions", "simulate"),
    "sensitivity": ("SensitivityOptions", "simulate"),
    "tlb": ("TlbOptions", None),
    "pmap": ("PmapOptions", None),
    "picture": ("PictureOptions", None),
    "explain": ("ExplainOptions", None),
}

_TITLES = {
    "simulate": "Simulation: `homenode simulate`, `homenode.simulate`",
    "bus": "Machines with caches: `homenode simulate`, `homenode.simulate`",
    "bus-point": "One point of a simulation on a bus",
    "directory": "Machines with a directory: `homenode simulate`, `homenode.simulate`",
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


def generated() -> dict[str, str]:
    """The text of every generated file, by its path in the project."""
    files = {
        "python/homenode/options/typed.py": types(),
        "python/homenode/options/typed_engines.py": engine_types(),
        "docs/options.md": page(),
    }
    for study in STUDIES:
        text = json.dumps(schema(study), indent=2, ensure_ascii=False)
        files[f"docs/schemas/{study}.json"] = text + "\n"
    return files


def types() -> str:
    """The typed dictionaries of all studies, as a Python module."""
    return _module(_class(study) for study in _TYPES)


def engine_types() -> str:
    """The typed dictionary of all engines, as a Python module."""
    return _module([_class_of_engines()])


def _module(classes: Iterable[str]) -> str:
    text = "\n\n".join(classes)
    return (
        f'"""The types of all options.\n\n{_HEADING}: do not edit.\n"""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING, Any, TypedDict\n\n"
        "if TYPE_CHECKING:\n"
        + "    import os\n" * ("os." in text)
        + "    from collections.abc import Iterable, Mapping\n\n\n"
        + text
    )


def _class(study: str) -> str:
    name, parent = _TYPES[study]
    inherited = {} if parent is None else options_of(parent)
    own = [
        option
        for option in options_of(study).values()
        if not option.argument and option.name not in inherited
    ]
    base = "TypedDict" if parent is None else _TYPES[parent][0]
    lines = [f"class {name}({base}, total=False):"]
    lines += [f'    """{_summary(study)}', ""]
    for option in own:
        words = f"{option.name}: {option.text().replace('`', '``')}"
        lines += textwrap.wrap(
            words,
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="        ",
            break_on_hyphens=False,
        )
    lines += ['    """', ""]
    lines += [f"    {option.name}: {option.annotation}" for option in own]
    return "\n".join(lines) + "\n"


def _class_of_engines() -> str:
    """The options of all engines, whose own dictionaries say what they mean."""
    annotations: dict[str, list[str]] = {}
    for study in ("simulate", "bus", "directory"):
        for option in options_of(study).values():
            if not option.argument and option.name not in ("machines", "block_sizes"):
                annotations.setdefault(option.name, []).extend(option.annotation.split(" | "))
    lines = [
        "class EngineOptions(TypedDict, total=False):",
        '    """The options of `SimulateOptions`, `BusOptions` and `DirectoryOptions`."""',
        "",
    ]
    lines += [
        f"    {name}: {' | '.join(dict.fromkeys(parts))}" for name, parts in annotations.items()
    ]
    return "\n".join(lines) + "\n"


def _summary(study: str) -> str:
    said = " ".join(str(schema(study).get("description", "")).split())
    return said or "Choices of a study of orders, beside those of a simulation."


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
        parent = _TYPES[study][1]
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

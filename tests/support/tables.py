"""Tables that commands print, and whether they are complete at every width of the terminal."""

import ast
import inspect
import io
import re
from collections import Counter
from pathlib import Path

import pytest

from homenode.cli import tables

WIDTHS = (60, 80, 100, 200)
Drawn = list[tables.Table | tables.Facts]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> tuple[Drawn, set[str]]:
    """The tables that a command shows, and the functions that print them."""
    found: Drawn = []
    functions: set[str] = set()

    def collect(table: tables.Table | tables.Facts, aside: bool = False) -> None:  # noqa: ARG001
        caller = inspect.stack()[2]
        found.append(table)
        functions.add(f"{Path(caller.filename).stem}.{caller.function}")

    monkeypatch.setattr(tables, "show", collect)
    return found, functions


def text_of(table: tables.Table | tables.Facts, width: int | None) -> str:
    file = io.StringIO()
    table.draw(width, file)
    return file.getvalue()


def cells_of(table: tables.Table | tables.Facts) -> list[str]:
    if isinstance(table, tables.Facts):
        return [text for fact in table.facts for text in fact]
    return [cell for column in table.columns for cell in column.cells]


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))


def check_widths(table: tables.Table | tables.Facts) -> None:
    wide = text_of(table, 1000)
    assert not numbers("\n".join(cells_of(table))) - numbers(wide)
    for width in WIDTHS:
        text = text_of(table, width)
        assert max(map(len, text.splitlines())) <= width, text
        # Columns of labels are repeated, and so are their numbers.
        assert not numbers(wide) - numbers(text), text
        columns = table.columns if isinstance(table, tables.Table) else ()
        missing = [c.heading for c in columns if not set(c.heading.split()) <= set(text.split())]
        assert not missing, text


def printing_functions(folder: Path) -> set[str]:
    """The functions in the modules of a folder that print a table, as ``module.function``."""
    return {
        f"{path.stem}.{function.name}"
        for path in folder.glob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if path.name != "tables.py" and isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id in {"print_table", "print_facts"}
    }

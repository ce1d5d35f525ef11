"""The rooms of the package: what depends on what, without a circle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import homenode

_PACKAGE = Path(homenode.__file__).parent


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imports(node: ast.AST) -> set[str]:
    """Modules of the package that a file imports anywhere, though not for its types only."""
    if _is_for_types(node):
        return set()
    found = set()
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        found = {f"{node.module}.{alias.name}" for alias in node.names}
    return found.union(*(_imports(child) for child in ast.iter_child_nodes(node)))


def _rooms() -> dict[str, set[str]]:
    """What each room takes from which others; a file at the root is a room of its own."""
    rooms = {path.stem for path in _PACKAGE.iterdir() if path.suffix in {"", ".py"}}
    taken: dict[str, set[str]] = {}
    for path in _PACKAGE.rglob("*.py"):
        room = path.relative_to(_PACKAGE).parts[0].removesuffix(".py")
        names = {
            name.split(".")[1]
            for name in _imports(ast.parse(path.read_text("utf-8")))
            if name.startswith("homenode.")
        }
        taken.setdefault(room, set()).update((names & rooms) - {room})
    return taken


def test_no_two_rooms_depend_on_each_other() -> None:
    rooms = _rooms()
    assert rooms["engines"] >= {"options", "results", "trace"}
    # The root only says where names are; nothing is loaded before it is used.
    del rooms["__init__"]
    order = list(TopologicalSorter(rooms).static_order())
    assert order.index("trace") < order.index("engines") < order.index("studies")


def test_the_root_holds_no_more_than_what_every_room_uses() -> None:
    files = {path.stem for path in _PACKAGE.glob("*.py")}
    assert files == {"__init__", "__main__", "catalogue", "demo", "errors", "files"}

"""The tables of a protocol with a directory as grids: the same in the terminal and on the page.

A row is a state, a column is what a controller sees in it. A cell has a line for each group of
senders that the controller does the same for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homenode.report.steps import letter

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """An action of a controller, and its senders; all if none is named.

    Attributes:
        senders: names, with commas between them.
        text: what it does, in words.
        kind: ``happens``, ``waits`` or ``never``.
        keys: the keys of the steps that use it.
        reasons: why it never happens.
    """

    senders: str
    text: str
    kind: str
    keys: tuple[str, ...]
    reasons: str = ""

    def __str__(self) -> str:
        return f"{self.senders}: {self.text}" if self.senders else self.text


@dataclass(frozen=True)
class Grid:
    """A controller's table.

    Attributes:
        events: names and meanings of the columns.
        rows: the states, each with a list of lines for each column.
        reasons: a letter for each reason why something never happens.
    """

    events: list[Data]
    rows: list[tuple[str, list[list[Line]]]]
    reasons: dict[str, str]


def grid(controller: Data) -> Grid:
    """The table of a controller as a grid."""
    side = controller["name"]
    reasons: dict[str, str] = {}
    cells: dict[tuple[str, str], list[Data]] = {}
    for cell in controller["cells"]:
        cells.setdefault((cell["state"], cell["event"]), []).append(cell)
        if cell["never"] is not None:
            reasons.setdefault(cell["never"], letter(len(reasons)))
    rows = [
        (
            state["name"],
            [_lines(side, cells[state["name"], e["name"]], reasons) for e in controller["events"]],
        )
        for state in controller["states"]
    ]
    by_letter = {name: reason for reason, name in reasons.items()}
    return Grid(list(controller["events"]), rows, by_letter)


def _lines(side: str, cells: list[Data], reasons: dict[str, str]) -> list[Line]:
    """The lines of a cell; what never happens comes last, and in one line."""
    happens = [cell for cell in cells if cell["never"] is None]
    lines = [
        Line(
            ", ".join(cell["senders"]),
            "waits" if cell["waits"] else does(cell),
            "waits" if cell["waits"] else "happens",
            _keys(side, cell),
        )
        for cell in happens
    ]
    never = [cell for cell in cells if cell["never"] is not None]
    if not never:
        return lines
    whose = [
        f"{', '.join(cell['senders'])} ({reasons[cell['never']]})"
        if cell["senders"]
        else f"({reasons[cell['never']]})"
        for cell in never
    ]
    why = "; ".join(dict.fromkeys(cell["never"] for cell in never))
    return [*lines, Line("", f"never {', '.join(whose)}", "never", (), why)]


def _keys(side: str, cell: Data) -> tuple[str, ...]:
    return tuple(
        key(side, cell["state"], cell["event"], sender) for sender in cell["senders"] or [""]
    )


def key(*names: str) -> str:
    """The key of a cell: the controller, its state, the event, and the sender if it matters."""
    return "|".join(names)


def does(cell: Data) -> str:
    """What is done, and the next state if it is another one."""
    texts = [action["text"] for action in cell["actions"]]
    if cell["next"] != cell["state"]:
        texts.append(f"→ {cell['next']}")
    return ", ".join(texts).replace(", →", " →") if texts else "nothing"


def used(act: Data, table: Data) -> str:
    """The key of the line that a step uses."""
    (cells,) = (c["cells"] for c in table["controllers"] if c["name"] == act["controller"])
    here = [c for c in cells if (c["state"], c["event"]) == (act["state"], act["event"])]
    names_sender = any(act["sender"] in cell["senders"] for cell in here)
    sender = act["sender"] if names_sender else ""
    return key(act["controller"], act["state"], act["event"], sender)

"""The numbers of moves that chip considered and made, from its writes to the board."""

from typing import Any

import numpy as np

from homenode.trace import Trace
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.tables import Row

_PLACE = "place"
"""Type of the first data on the board's page."""
_WRITE = 1
_DECISION = 1
"""Bytes of a decision, which is written once for each considered move."""
_WRITES = 6
"""Writes of a move: two chips, with the row and the column of each, and two places."""
_COLUMNS = ("address", "kind", "size")


def counted(context: StudyContext) -> list[Row]:
    """Moves considered and made, for each program with chip's workload.

    They are counted in the recording: in a trace of words a decision is as large as other data.
    """
    return [
        {"program": program.name, **_moves(context.recorded(program))}
        for program in context.programs
        if program.workload == "chip"
    ]


def _moves(trace: Trace) -> Row:
    """Writes before the first decision set up the board."""
    first, last = _board(trace.metadata)
    considered = written = 0
    for batch in trace.batches():
        address, kind, size = (batch.column(name).to_numpy() for name in _COLUMNS)
        of_board = (address >= first) & (address < last) & (kind == _WRITE)
        decisions = size[of_board] == _DECISION
        others = ~decisions
        if considered == 0:
            others &= np.cumsum(decisions) > 0
        considered += int(decisions.sum())
        written += int(others.sum())
    return {"considered": considered, "made": written / _WRITES}


def _board(metadata: dict[str, Any]) -> tuple[int, int]:
    """The address range of the board: the largest block of its type."""
    types = ["", *(layout["name"] for layout in metadata["layouts"])]
    boards = [
        entry
        for entry in metadata["ranges"]
        if entry["kind"] == "heap" and types[entry.get("layout", 0)] == _PLACE
    ]
    board = max(boards, key=lambda entry: int(entry["size"]))
    return board["start"], board["start"] + board["size"]

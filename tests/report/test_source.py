"""Source lines in a report: which functions, with which misses, and the text around them."""

from pathlib import Path
from typing import Any

from homenode.report.source import annotated


def _row(file: Path | str, line: int, misses: tuple[int, int], function: str = "f") -> Any:
    counts = {"false_sharing": misses[0], "true_sharing": misses[1]}
    return {"file": str(file), "line": line, "function": function, "misses": counts}


def test_lines_with_misses_stand_in_their_text(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("".join(f"line {n}\n" for n in range(1, 41)))
    rows = [_row(file, 10, (50, 1)), _row(file, 10, (1, 0)), _row(file, 30, (0, 9))]
    [function] = annotated([*rows, _row(file, 2, (0, 0), "cold")])
    assert (function.name, function.file, function.misses) == ("f", "a.c", 61)
    assert [line.number for line in function.lines] == [8, 9, 10, 11, 12, 28, 29, 30, 31, 32]
    hot = [(n.number, n.text, n.false, n.true) for n in function.lines if n.false + n.true]
    assert hot == [(10, "line 10", 51, 1), (30, "line 30", 0, 9)]


def test_without_the_file_the_numbers_remain() -> None:
    rows = [_row("/nowhere/b.c", 7, (100, 0)), _row("/nowhere/b.c", 3, (1, 0), "trifle")]
    [function] = annotated(rows)
    assert [(line.number, line.text) for line in function.lines] == [(7, "")]

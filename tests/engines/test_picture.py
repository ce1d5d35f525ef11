"""Pictures of sharing: the content of cells, what is drawn, and the command."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import homenode as hn
from homenode.report.picture import colour_of_processor
from support.command import Command


@pytest.fixture
def trace(tmp_path: Path) -> hn.Trace:
    """Two slices of four references to two blocks: 4 1 / 2 5 as codes of cells."""
    return hn.Trace.from_numpy(
        thread=[0, 1, 0, 2, 1, 1, 2, 1],
        kind=["W", "R", "R", "R", "W", "R", "R", "R"],
        address=[0x40, 0x80, 0x44, 0x84, 0x48, 0x80, 0x40, 0x80],
        path=tmp_path / "t.hnt",
    )


def test_cells_say_who_referenced_what_when(trace: hn.Trace) -> None:
    found = hn.picture(trace, slices=2)
    assert found.data["slices"] == [[4, 1], [2, 5]]
    assert found.data["references"] == 8
    assert [row["reads"] for row in found.data["map"]["rows"]] == [[1, 0, 1], [0, 3, 1]]
    coarse = hn.picture(trace, slices=1, stretches=1, processors=1)
    assert coarse.data["slices"] == [[4]]


def test_each_code_has_its_colour(trace: hn.Trace) -> None:
    text = hn.picture(trace, slices=2, title="a < b").svg()
    assert text == hn.picture(trace, slices=2, title="a < b").svg()
    root = _parsed(text)
    assert [e.text for e in root.iter() if e.get("class") == "title"] == ["a < b"]
    assert _cells(root.findall(".//{*}g[@class='cells']/{*}path")) == {
        (0, 0): "#0072b2",
        (1, 0): "#b9bec4",
        (0, 1): "#20242a",
        (1, 1): "#ecb78c",
    }


def _parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - ours


def _cells(paths: list[ET.Element]) -> dict[tuple[int, int], str]:
    """The colours of cells, from paths of runs as a browser follows them."""
    found = {}
    for path in paths:
        x = y = 0
        for move, dx, dy, way, length in re.findall(
            r"([Mm])(-?\d+) ?(-?\d+)([hv])(\d+)", path.get("d") or ""
        ):
            x, y = (int(dx), int(dy)) if move == "M" else (x + int(dx), y + int(dy))
            for _ in range(int(length)):
                found[x, y] = path.get("stroke") or ""
                x, y = (x + 1, y) if way == "h" else (x, y + 1)
    return found


def test_runs_along_memory_and_along_time_draw_the_same_cells() -> None:
    """A checkerboard of long runs either way, and random cells."""
    from homenode.report.picture import _cells as cells_of

    for grid in (
        [[3, 3, 3, 3], [4, 4, 4, 4]],
        [[3, 4], [3, 4], [3, 4], [3, 0]],
        [[(7 * x * x + 3 * y + x * y) % 5 for x in range(23)] for y in range(11)],
    ):
        group = _parsed(str(cells_of(grid, 2)))
        colours = _cells(list(group))
        assert len(colours) == sum(code > 0 for row in grid for code in row)
        by_code = {(grid[y][x], colour) for (x, y), colour in colours.items()}
        assert len(by_code) == len({code for code, _ in by_code})
        assert all(grid[y][x] for x, y in colours)


@pytest.mark.parametrize("count", [1, 8, 9, 64, 1000])
def test_every_processor_has_a_colour(count: int) -> None:
    colours = [colour_of_processor(number, count) for number in range(count)]
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    assert len(set(colours)) > 0.7 * count


def test_an_empty_trace_has_a_picture(tmp_path: Path) -> None:
    empty = hn.Trace.from_numpy(thread=[], kind=[], address=[], path=tmp_path / "e.hnt")
    assert hn.picture(empty).data["map"]["rows"] == []
    _parsed(hn.picture(empty).svg())


def test_the_command_writes_the_same_picture(
    trace: hn.Trace, program: Command, tmp_path: Path
) -> None:
    out = tmp_path / "p.svg"
    made = program("picture", trace.path, "-o", out, "--slices", "2", "--json")
    assert made.code == 0, made.err
    assert out.read_text() == hn.picture(trace, slices=2).svg()
    assert json.loads(made.out)["slices"] == [[4, 1], [2, 5]]


def test_mistakes_are_named(trace: hn.Trace, program: Command) -> None:
    for words, says in (
        ([], "say where to write the picture"),
        (["-o", trace.path], "t.hnt"),
        (["--json", "--slices", "5000"], "5000 slices: a picture has 1 to 4096"),
        (["--json", "--block-size", "48"], "48"),
        (["--json", "--processors", "0"], "--processors"),
    ):
        refused = program("picture", trace.path, *words)
        assert refused.code == 2
        assert says in refused.err
    with pytest.raises(hn.ConfigError, match="there is no option colour"):
        hn.picture(trace, colour="red")  # type: ignore[call-arg]

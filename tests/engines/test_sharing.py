"""`homenode.sharing`, `homenode.synthetic` and their commands."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.errors import ConfigError
from support.command import Command

# The CC machine of chapter 6: R = 152 + 2 a word.
_OVERHEAD, _WORD = 152, 2


def _closed(name: str, words: int, references: int) -> dict[str, float]:
    """Section 7.1.6, with n - 1 moves for n: the first location is free."""
    moves, sweeps = references - 1, references // words - 1
    return {
        "t-f": {"fragmentation": moves * _WORD * (words - 1)},
        "t-s": {"false_sharing": moves * (_OVERHEAD + _WORD * words)},
        "t-gamma": {"grouping": sweeps * (1 - words) * _OVERHEAD},
    }[name]


@pytest.mark.parametrize("name", ["t-f", "t-s", "t-gamma"])
@pytest.mark.parametrize(("processors", "words", "references"), [(2, 8, 64), (8, 64, 1024)])
def test_synthetic_traces_cost_what_the_thesis_derives(
    name: str, processors: int, words: int, references: int
) -> None:
    trace = hn.synthetic(name, processors=processors, words=words, references=references)
    assert trace.references == references
    row = hn.sharing(trace, "cc", 4 * words).rows[0]
    expected = dict.fromkeys(("fragmentation", "false_sharing", "grouping"), 0)
    expected |= _closed(name, words, references)
    for effect, value in expected.items():
        assert row["estimate"][effect] == {"low": value, "high": value}, effect
    assert row["estimate"]["one_word_block"] == sum(expected.values())


def test_rows_are_flat_in_a_frame(trace: hn.Trace) -> None:
    result = hn.sharing(trace, ["cc", "numa"], "64-1024")
    frame = result.to_pandas()
    assert list(frame["machine"].unique()) == ["cc", "numa"]
    assert len(frame) == len(result) == 2 * 5
    parts = frame.filter(regex="^cost_").sum(axis=1)
    assert parts.to_numpy() == pytest.approx(frame["total_cost"].to_numpy())
    assert (frame["false_sharing_low"] <= frame["false_sharing_high"]).all()
    assert (frame["false_sharing_high"] <= frame["bound_7_14"] + 1e-6).all()
    assert (frame["share_halving_bound"] <= frame["share_false_sharing_low"] + 1e-12).all()
    assert result.to_arrow().num_rows == 10
    assert [row["block_size"] for row in result.sizes()] == [64, 128, 256, 512, 1024]
    assert result.provenance["trace_checksum"] == trace.checksum


def test_the_optimum_is_that_of_the_simulation(trace: hn.Trace) -> None:
    rows = hn.sharing(trace, "numa", [64, 4096], detail=0).rows
    simulated = hn.simulate(trace, "numa", "optimal", [64, 4096]).rows
    assert [row["mcpr"] for row in rows] == [row["mcpr"] for row in simulated]


def _counters(apart: int, path: Path | None = None) -> hn.Trace:
    """Two threads with counters `apart` bytes from each other."""
    turns = range(40)
    return hn.Trace.from_numpy(
        thread=[i % 2 for i in turns],
        kind="W",
        address=[0x10000 + apart * (i % 2) for i in turns],
        size=8,
        path=path,
    )


def test_hand_tuning_compares_two_programs() -> None:
    options: dict[str, Any] = {"machine": "cc", "block_sizes": [64, 256]}
    before, after = (hn.sharing(_counters(apart), **options) for apart in (8, 128))
    small, large = before.against(after)
    assert small["saved"] == small["cost_before"] - small["cost_after"] == 39 * 184
    assert small["false_sharing_before"] == {"low": 39 * 184, "high": 39 * 184}
    assert small["false_sharing_after"] == {"low": 0, "high": 0}
    assert large["saved"] == 0
    with pytest.raises(ConfigError, match="different machines or block sizes"):
        before.against(hn.sharing(_counters(8), "cc", 64))


def test_impossible_options_are_refused(trace: hn.Trace) -> None:
    with pytest.raises(
        ConfigError, match=r"merge_transfers \(--merge\): 0: expected a whole number"
    ):
        hn.sharing(trace, "cc", 64, merge_transfers=0)
    with pytest.raises(ConfigError, match="add it to --block-size"):
        hn.sharing(trace, "cc", 64, detail=128)
    with pytest.raises(ConfigError, match="expected one block size"):
        hn.sharing(trace, "cc", "4,8", detail="4,8")
    with pytest.raises(ConfigError, match="there is no option polices"):
        hn.sharing(trace, "cc", 64, polices="ace")  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="there are: t-f, t-s, t-gamma"):
        hn.synthetic("t-x")
    with pytest.raises(ConfigError, match="to divide the number of words"):
        hn.synthetic("t-s", processors=3)
    with pytest.raises(ConfigError, match="processors: 0: expected"):
        hn.synthetic("t-f", processors=0)


def test_the_command_prints_tables(homenode: Command, trace: hn.Trace) -> None:
    done = homenode("sharing", trace.path, "--block-size", "64,4K", "--top", "3")
    assert done.code == 0
    shown = " ".join(done.out.split())  # a title with a long path takes several lines
    assert "MCPR of the optimum by component" in shown
    assert "False sharing, as a share of all moves" in shown
    assert "Objects in 64 B blocks" in shown


def test_the_command_prints_json_and_csv(
    homenode: Command, trace: hn.Trace, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    done = homenode("sharing", trace.path, "--machine", "cc", "--json", "--csv", table)
    found = json.loads(done.out)
    assert found["rows"] == hn.sharing(trace, "cc").rows
    assert found["detail"]["block_size"] == 64
    assert [row["block_size"] for row in found["rows"]] == [64, 4096]
    assert len(table.read_text().splitlines()) == 1 + 2


def test_the_comparison_ends_with_1_when_nothing_is_saved(
    homenode: Command, tmp_path: Path
) -> None:
    near, far = tmp_path / "near.hnt", tmp_path / "far.hnt"
    _counters(8, near)
    _counters(128, far)
    page = tmp_path / "page.html"
    common = ("--machine", "cc", "--block-size", "64")
    done = homenode("sharing", near, "--compare", far, *common, "-o", page)
    assert (done.code, "Hand tuning: what" in done.out) == (0, True)
    assert "What did tuning save?" in page.read_text()
    assert homenode("sharing", far, "--compare", near, *common).code == 1


def test_the_page_stands_alone(homenode: Command, trace: hn.Trace, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert homenode("sharing", trace.path, "-o", page).code == 0
    text = page.read_text()
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", text)
    assert "<script" not in text
    assert text.count("<svg") == 2
    assert "nan" not in "".join(re.findall(r' d="[^"]*"', text))


def test_a_trace_without_shared_memory_has_no_false_sharing() -> None:
    alone = hn.Trace.from_numpy(thread=[0, 0], kind="W", address=[64, 128])
    result = hn.sharing(alone, "cc", 64)
    assert result.rows[0]["shares"]["false_sharing_high"] == 0
    empty = hn.Trace.from_numpy(thread=[], kind="R", address=[])
    assert hn.sharing(empty, "cc", 64).rows[0]["counts"]["blocks"] == 0


def test_synthetic_traces_are_listed_and_written(homenode: Command, tmp_path: Path) -> None:
    assert [row["name"] for row in hn.table("synthetic")] == ["t-f", "t-s", "t-gamma"]
    assert "fragmentation, F = n b (s - 1)" in homenode("list", "synthetic").out
    path = tmp_path / "t.hnt"
    done = homenode("synthetic", "t-gamma", "--words", "32", "--references", "64", "-o", path)
    assert (done.code, done.out) == (0, f"{path}: 64 references\n")
    refused = homenode("synthetic", "t-gamma", "--references", "65", "-o", path)
    assert (refused.code, "whole sweeps" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("option", "value", "flag"),
    [
        ("block_sizes", 128, "--block-size"),
        ("detail", 64, "--detail"),
        ("filter", "none", "--filter"),
        ("merge_transfers", True, "--merge"),
    ],
)
def test_an_option_that_no_machine_uses_is_refused(option: str, value: Any, flag: str) -> None:
    trace = hn.synthetic("t-s")
    said = ": spr-2s-lines has a clock, caches and lines of its own"
    with pytest.raises(hn.ConfigError, match=f"^{option}{said}") as refused:
        hn.sharing(trace, "spr-2s-lines", **{option: value})
    assert refused.value.on_command_line.startswith(f"{flag}{said}")
    assert hn.sharing(trace, "spr-2s-lines", count=3, sync="exclude").lines

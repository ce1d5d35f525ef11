"""The worst blocks of real programs are those that were planted in them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from homenode import _core
from homenode.trace import Trace
from support import workloads

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler `cc` here")


def worst(folder: Path, name: str, *arguments: str, block_size: int) -> dict[str, Any]:
    """Records a workload at its quick size and finds the worst blocks under ACE on `numa`."""
    program = workloads.build(name, folder / name)
    trace = folder / "t.hnt"
    Trace.record([str(program), "--quick", *arguments], trace)
    point = {"machines": ["numa"], "policies": ["ace"], "block_sizes": [block_size]}
    report: dict[str, Any] = json.loads(_core.worst_blocks(str(trace), json.dumps(point), 12))
    return report


def misses(report: dict[str, Any], kind: str) -> int:
    return sum(block["misses"][kind] for block in report["worst"])


def test_false_sharing_is_found_with_its_symbol_and_line(tmp_path: Path) -> None:
    report = worst(tmp_path, "false-sharing", block_size=64)
    block = report["worst"][0]
    assert block["sharing"] == "false-sharing"
    assert block["share"] > 0.9
    assert block["misses"]["true_sharing"] == 0
    assert [use["thread"] for use in block["threads"]] == list(range(8))
    assert [item["label"] for item in block["objects"]] == ["adjacent_counters"]
    assert block["objects"][0]["offsets"] == [0, 63]
    line = block["lines"][0]
    source = (workloads.FOLDER / "false-sharing.c").read_text().splitlines()
    assert line["file"].endswith("false-sharing.c")
    assert line["function"] == "work"
    assert "+= counts(id, draw);" in source[line["line"] - 1]
    assert line["threads"] == 8
    assert report["objects"][0]["label"] == "adjacent_counters"


def test_padding_removes_it(tmp_path: Path) -> None:
    adjacent = worst(tmp_path, "false-sharing", block_size=64)
    padded = worst(tmp_path, "false-sharing", "--padded", block_size=64)
    assert padded["extra_cost"] < adjacent["extra_cost"] / 10
    assert all(
        item["label"] != "padded_counters" or item["extra_cost"] == 0 for item in padded["objects"]
    )


def test_order_of_computation_alone_makes_false_sharing(tmp_path: Path) -> None:
    """Bolosky's thesis, section 2.2.6: the two programs differ in nothing else."""
    by_row = worst(tmp_path, "sorbyr", block_size=512)
    by_column = worst(tmp_path, "sorbyc", block_size=512)
    assert misses(by_row, "false_sharing") <= misses(by_row, "true_sharing")
    assert misses(by_column, "false_sharing") > 5 * misses(by_column, "true_sharing")
    for report in (by_row, by_column):
        assert report["objects"][0]["allocated_at"]["file"].endswith("sor.h")
        assert report["objects"][0]["share"] > 0.9
        total = sum(item["extra_cost"] for item in report["objects"])
        assert total <= report["extra_cost"]

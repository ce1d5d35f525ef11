"""The bench of whole processes fails when a simulator counts differently from the plain loop."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "benches/side_by_side.py"
COUNTS = ("references", "misses", "write_misses", "invalidates")
# Of a build that counts one miss in one reference, whatever the trace.
WRONG = {
    "block_references": 1,
    "misses": {"cold": 1},
    "transactions": {"read_invalidate_memory": 0, "read_invalidate_cache": 0, "invalidate": 0},
}


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_counts_agree_with_the_plain_loop(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text(f"#!/bin/sh\necho '{json.dumps([WRONG])}'\n")
    wrong.chmod(0o755)
    options = ["--scale", "0.0002", "--runs", "1", "--no-peers", "--json", "--homenode", str(wrong)]
    command = [sys.executable, str(BENCH), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    by_trace: dict[str, list[tuple[str, list[int]]]] = {}
    for row in json.loads(done.stdout)["rows"]:
        counts = [row[name] for name in COUNTS]
        by_trace.setdefault(row["trace"], []).append((row["program"], counts))
    # Matrices of 16 x 16; a fraction of 50 million; and two.
    expected = {"mm54": 2 * 16**3 + 16**2, "syn50": 10_000, "two references": 2}
    assert {trace: rows[0][1][0] for trace, rows in by_trace.items()} == expected
    for trace, ((_, plain), (name, ours), (other, others)) in by_trace.items():
        assert (name, ours) == ("homenode", plain)
        assert others == [1, 1, 0, 0]
        assert f"{trace}, {other}: 1 references, but {plain[0]:,} in the plain loop" in done.stderr
    assert "homenode: " not in done.stderr
    assert by_trace["syn50"][0][1][3] > 0

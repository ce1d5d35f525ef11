"""`homenode compact`: in place and to another file, and which files remain when it is killed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import homenode as hn
from support.command import Command
from support.traces import make_trace


def test_traces_are_replaced_by_smaller_ones(homenode: Command, tmp_path: Path) -> None:
    traces = [make_trace(tmp_path / f"{name}.hnt", 30_000) for name in "ab"]
    sizes = [trace.path.stat().st_size for trace in traces]
    shown = homenode("compact", "--json", *(trace.path for trace in traces))
    assert shown.code == 0, shown.err
    for report, trace, size in zip(json.loads(shown.out), traces, sizes, strict=True):
        assert report["written"]
        assert (report["path"], report["checksum"]) == (str(trace.path), trace.checksum)
        assert report["bytes_before"] == size > report["bytes"] == trace.path.stat().st_size
        assert hn.Trace.open(trace.path).checksum == trace.checksum


def test_text_has_the_bytes_saved(homenode: Command, tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "t.hnt", 30_000)
    shown = homenode("compact", trace.path, "-o", tmp_path / "u.hnt")
    assert shown.code == 0, shown.err
    assert "30,000" in shown.out
    assert "%)" in shown.out
    assert trace.checksum in shown.out
    again = homenode("compact", tmp_path / "u.hnt")
    assert "small already" in again.out


def test_killed_at_any_moment_it_leaves_a_whole_trace(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "t.hnt", 600_000)
    line = [sys.executable, "-m", "homenode", "compact", "--level", "19", str(trace.path)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not (tmp_path / "t.hnt.compacting").exists():
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    assert hn.Trace.open(trace.path).checksum == trace.checksum
    # The remaining file does not block the next run.
    done = subprocess.run([*line[:-3], "--level", "1", line[-1]], check=False)
    assert done.returncode == 0
    assert hn.Trace.open(trace.path).checksum == trace.checksum
    assert [path.name for path in tmp_path.iterdir()] == ["t.hnt"]

"""Files that other commands write, that were left behind, or that are not regular files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import homenode as hn
from homenode.files import check_output
from support.command import Command

_COMMAND = [sys.executable, "-m", "homenode"]
_LINE = b"0 R 0x40 4\n"


def _importing(source: object, out: Path, form: str = "text") -> subprocess.Popen[bytes]:
    line = [*_COMMAND, "import", str(source), "--format", form, "-o", str(out)]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def _wait_for_the_handler(process: subprocess.Popen[bytes]) -> None:
    """A signal that arrives before the command handles it ends the interpreter instead."""
    status = Path(f"/proc/{process.pid}/status")
    caught = 0
    while not caught >> (signal.SIGTERM - 1) & 1:
        time.sleep(0.02)
        line = next(line for line in status.read_text().splitlines() if "SigCgt" in line)
        caught = int(line.split()[1], 16)


def test_two_commands_that_write_one_trace_do_not_spoil_it(
    homenode: Command, tmp_path: Path
) -> None:
    out, text = tmp_path / "t.hnt", tmp_path / "t.txt"
    text.write_bytes(_LINE)
    with _importing("-", out) as first:
        assert first.stdin is not None
        first.stdin.write(_LINE * 3)
        first.stdin.flush()
        _wait_for(tmp_path / "t.hnt.partial")
        second = homenode("import", text, "-o", out)
        assert second.code == 2
        assert "another command is writing this trace" in second.err
        first.stdin.close()
        assert first.wait(timeout=200) == 0
    assert hn.Trace.open(out).references == 3
    assert {path.name for path in tmp_path.iterdir()} == {"t.hnt", "t.txt"}


def test_what_a_killed_command_left_is_not_overwritten(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    left, text = tmp_path / "k.hnt.partial", tmp_path / "k.txt"
    left.write_bytes(trace.path.read_bytes()[:-40])
    text.write_bytes(_LINE)
    refused = homenode("import", text, "-o", tmp_path / "k.hnt")
    assert refused.code == 2
    assert "homenode repair" in refused.err
    assert homenode("repair", left).code == 0
    assert hn.Trace.open(tmp_path / "k.hnt").references == 4000


@pytest.mark.parametrize("command", ["info", "repair", "tlb", "explain"])
def test_a_pipe_is_no_trace(command: str, homenode: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "p.hnt"
    os.mkfifo(pipe)
    more = {"tlb": [pipe, "--page-size", "4K"], "explain": ["mesi", "--trace", pipe]}
    shown = homenode(command, *more.get(command, [pipe]))
    assert shown.code == 2
    assert "not a regular file" in shown.err


@pytest.mark.parametrize("form", ["text", "parquet", "arrow"])
@pytest.mark.parametrize("source", ["-", "pipe"])
def test_an_import_that_waits_stops_on_a_signal(form: str, source: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with _importing(source if source == "-" else pipe, tmp_path / "t.hnt", form) as process:
        _wait_for_the_handler(process)
        # By then it waits: for bytes, or for a writer to open the pipe.
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=100) == 143
        assert process.stderr is not None
        assert b"interrupted" in process.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_pipe_is_imported_like_a_file(tmp_path: Path) -> None:
    pipe, out = tmp_path / "pipe", tmp_path / "t.hnt"
    os.mkfifo(pipe)
    with _importing(pipe, out) as process:
        pipe.write_bytes(_LINE * 5)
        assert process.wait(timeout=200) == 0
    assert hn.Trace.open(out).references == 5


def test_a_pipe_is_no_machine(homenode: Command, trace: hn.Trace, tmp_path: Path) -> None:
    pipe = tmp_path / "machine.toml"
    os.mkfifo(pipe)
    shown = homenode("simulate", trace.path, "--machine", pipe)
    assert shown.code == 2
    assert "it is a pipe; write the machine to a file first" in shown.err


def test_what_never_ends_is_not_read_to_the_end(homenode: Command, trace: hn.Trace) -> None:
    shown = homenode("simulate", "--machine", "/dev/zero", trace.path)
    assert shown.code == 2
    assert "at most 1048576 bytes" in shown.err


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_folder_that_takes_no_files_is_refused_before_the_work() -> None:
    with pytest.raises(FileNotFoundError):
        check_output("/proc/x.csv")

"""The command as a process: pipes that close, Ctrl-C, and what importing it costs."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import homenode as hn
from support.traces import make_trace

_COMMAND = [sys.executable, "-m", "homenode"]


_LOADED = "import sys; from homenode.cli import main; main(sys.argv[1:]); print(*sys.modules)"


def _loaded(*words: object) -> set[str]:
    """Which of the modules that take long to load a command loads."""
    line = [sys.executable, "-c", _LOADED, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    heavy = {"numpy", "pyarrow", "rich", "jinja2", "pandas", "homenode._core"}
    return heavy & set(done.stdout.splitlines()[-1].split())


def test_help_loads_nothing_heavy() -> None:
    assert _loaded("--help") == set()


def test_rows_need_no_arrays(trace: hn.Trace) -> None:
    assert _loaded("simulate", trace.path, "--policy", "ace", "--json") == {"homenode._core"}
    of_machine = ("--machine", "bus-smp", "--processors", 4, "--json")
    assert _loaded("simulate", trace.path, *of_machine) == {"homenode._core"}


def test_facts_in_files_need_no_terminal(trace: hn.Trace) -> None:
    assert _loaded("info", trace.path) == {"homenode._core"}


def test_a_reader_that_leaves_is_no_error(trace: hn.Trace) -> None:
    line = [*_COMMAND, "export", str(trace.path), "--format", "text", "-o", "-"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == b""
    assert process.returncode in {0, 141, -signal.SIGPIPE}


@pytest.mark.parametrize("form", ["text", "csv", "parquet"])
def test_a_reader_that_leaves_a_long_export_is_no_error(form: str, tmp_path: Path) -> None:
    path = make_trace(tmp_path / "big.hnt", 200_000).path
    line = [*_COMMAND, "export", str(path), "--format", form, "-o", "-"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == b""
    assert process.returncode in {0, 141, -signal.SIGPIPE}


def test_a_reader_that_never_was_is_no_finding() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    line = [*_COMMAND, "list", "machines"]
    done = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed: str, trace: hn.Trace) -> None:
    for path, code in ((str(trace.path), 0), (f"{trace.path}.not", 2)):
        line = ["sh", "-c", f'exec "$@" {closed}', "sh", *_COMMAND, "info", path]
        done = subprocess.run(line, capture_output=True, check=False)
        assert done.returncode == code
        assert b"internal error" not in done.stderr


def _wait_until_open(process: subprocess.Popen[bytes], path: Path) -> None:
    """A signal that arrives before the command runs is handled by the interpreter."""
    folder = Path(f"/proc/{process.pid}/fd")
    while process.poll() is None:
        with contextlib.suppress(OSError):
            if any(link.readlink() == path for link in folder.iterdir()):
                return
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("command", "sent", "code"),
    [
        ("import", signal.SIGINT, 130),
        ("import", signal.SIGTERM, 143),
        ("simulate", signal.SIGINT, 130),
    ],
)
def test_an_interrupt_ends_cleanly(
    command: str, sent: signal.Signals, code: int, tmp_path: Path
) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    lines = {
        "import": ["import", str(fifo), "--format", "text", "-o", str(tmp_path / "t.hnt")],
        "simulate": ["list", "machines"],
    }
    if command == "simulate":
        path = make_trace(tmp_path / "big.hnt", 400_000).path
        lines["simulate"] = ["simulate", str(path), "--block-size", "4-64K", "--machine", "numa"]
    process = subprocess.Popen(
        [*_COMMAND, *lines[command]], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    writer = os.open(fifo, os.O_WRONLY) if command == "import" else None
    if writer is not None:
        os.write(writer, b"0 R 0x40 4\n" * 5000)
    else:
        _wait_until_open(process, tmp_path / "big.hnt")
    process.send_signal(sent)
    if writer is not None:
        # The importer waits for lines; the next ones let it see the signal.
        while process.poll() is None:
            time.sleep(0.02)
            with contextlib.suppress(BrokenPipeError):
                os.write(writer, b"0 R 0x40 4\n" * 1000)
        os.close(writer)
    _, errors = process.communicate(timeout=200)
    assert b"Traceback" not in errors
    if command == "import" or process.returncode != 0:
        assert process.returncode == code, errors
        assert errors.strip() == b"homenode: interrupted; nothing was left half-written"
    assert {path.name for path in tmp_path.iterdir()} <= {"pipe", "big.hnt"}


def test_a_terminal_without_our_signs_gets_others() -> None:
    environment = os.environ | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*_COMMAND, "list", "machines"], env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"dsm+" in done.stdout

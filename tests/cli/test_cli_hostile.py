"""Names that control a terminal or break a picture: in traces, file names and messages."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import homenode as hn
from homenode import _core
from support.command import Command
from support.traces import make_trace

# Red, the window's title, a cleared screen in one byte, text from right to left, and no XML.
_EVIL = "evil\x1b[31m\x1b]0;owned\x07\x9b2J\u202e\x00\x08\x7f\nsecond line"
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def _shows_it_escaped(text: str) -> None:
    assert not _CONTROL.search(text), text
    assert "evil\\x1b[31m" in text, text


@pytest.fixture
def hostile(tmp_path: Path) -> hn.Trace:
    """The small trace, in which everything that has a name is called `_EVIL`."""
    frame = make_trace(tmp_path / "plain.hnt", 4_000).to_arrow()
    column = {name: frame[name].to_numpy() for name in ("thread", "address", "size")}
    writer = _core.TraceWriter(str(tmp_path / "evil.hnt"), pc=True)
    kinds = np.array([kind.as_py() in {"W", 1} for kind in frame["kind"]], np.uint8)
    pcs = (0x400000 + np.arange(len(kinds)) % 3).astype(np.uint64)
    writer.push(
        {
            "thread": column["thread"].astype(np.uint16),
            "kind": kinds,
            "addr": column["address"].astype(np.uint64),
            "size": column["size"].astype(np.uint8),
            "pc": pcs,
        }
    )
    ranges = [(0x10000, 0x8000), (0x80000, 0x800), (0x90000, 64)]
    words = ("program", "tool", "method", "order", "sampling")
    metadata = {
        **dict.fromkeys(words, _EVIL),
        "arguments": [_EVIL],
        "word_size": 4,
        "ranges": [
            {"start": start, "size": size, "kind": "static", "name": _EVIL}
            for start, size in ranges
        ],
        "lines": [
            {"pc": 0x400000 + i, "function": _EVIL, "file": _EVIL, "line": i} for i in range(3)
        ],
        "processes": [],
        "provenance": [_EVIL],
    }
    writer.finish(json.dumps(metadata))
    return hn.Trace.open(tmp_path / "evil.hnt")


@pytest.mark.parametrize(
    "words",
    [
        ("info",),
        ("sharing", "--block-size", "64", "--machine", "numa"),
        ("advise", "--machine", "numa", "--block-size", "64"),
        ("simulate", "--policy", "ace"),
        ("simulate", "--machine", "dash-mesh"),
    ],
)
def test_names_from_traces_are_shown_escaped(
    words: tuple[str, ...], hostile: hn.Trace, homenode: Command
) -> None:
    done = homenode(words[0], hostile.path, *words[1:])
    assert done.code == 0
    assert not _CONTROL.search(done.out + done.err)
    if words[0] != "simulate" or "dash-mesh" in words:
        _shows_it_escaped(done.out + done.err)


@pytest.mark.parametrize(
    "words",
    [
        ("tlb", "--page-size", "4K"),
        ("pmap", "--page-size", "4K"),
        ("optimal", "--machine", "numa"),
        ("simulate", "--machine", "bus-smp", "--protocol", "mesi"),
        ("simulate", "--machine", "markatos", "--policy", "upt", "--block-size", "1K"),
        ("sensitivity", "--reinterleave", "1", "--policy", "ace"),
        ("export", "--format", "text", "-o", "out.txt"),
        ("transform", "local", "-o", "out.hnt"),
        ("repair", "-o", "out.hnt"),
        ("compact", "-o", "out.hnt"),
        ("info",),
        ("sharing", "--block-size", "64", "--csv", "out.csv"),
        ("info", "--json"),
    ],
)
def test_names_of_files_are_shown_escaped(
    words: tuple[str, ...],
    trace: hn.Trace,
    homenode: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = tmp_path / "evil\x1b[31m\n.hnt"
    trace.path.rename(evil)
    command = list(words)
    command.insert(2 if words[0] == "transform" else 1, str(evil))
    done = homenode(*command)
    assert done.code == 0, done
    assert not _CONTROL.search(done.out + done.err)
    if words == ("info",):
        assert "evil\\x1b[31m\\n.hnt" in done.out


@pytest.mark.parametrize("name", ["evil\x1b[31m\x9b.hnt", "a\nb.hnt"])
def test_an_error_is_one_line_whatever_the_file_is_called(
    name: str, homenode: Command, tmp_path: Path
) -> None:
    for there in (False, True):
        if there:
            (tmp_path / name).write_bytes(b"no trace")
        for words in (["info"], ["simulate", "--policy", "ace"], ["import", "-o", "x"]):
            done = homenode(words[0], tmp_path / name, *words[1:])
            assert done.code == 2
            assert len(done.err.splitlines()) == 1, done.err
            assert not _CONTROL.search(done.err)
            assert done.err.startswith("homenode: error: ")


def test_pictures_and_pages_stay_valid(
    hostile: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    svg, page, sharing = (tmp_path / name for name in ("p.svg", "r.html", "s.html"))
    assert homenode("picture", hostile.path, "-o", svg, "--title", _EVIL).code == 0
    assert homenode("picture", hostile.path, "-o", tmp_path / "own.svg").code == 0
    for drawn in (svg, tmp_path / "own.svg"):
        ElementTree.parse(drawn)  # noqa: S314 - our own file
        _shows_it_escaped(drawn.read_text())
    assert (
        homenode("report", hostile.path, "-o", page, "--policy", "ace", "--title", _EVIL).code == 0
    )
    assert homenode("sharing", hostile.path, "-o", sharing, "--block-size", "64").code == 0
    for written in (page, sharing):
        _shows_it_escaped(written.read_text())


def test_a_terminal_gets_no_control_characters_in_csv(hostile: hn.Trace) -> None:
    evil = hostile.path.rename(hostile.path.with_name("evil\x1b[31m.hnt"))
    line = [sys.executable, "-m", "homenode", "simulate", str(evil), "--policy", "ace"]
    line += ["--csv", "-"]
    ours, terminal = pty.openpty()
    with subprocess.Popen(line, stdout=terminal) as process:
        os.close(terminal)
        said = b""
        while portion := _read(ours):
            said += portion
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[31m" not in said
    assert b"evil\\x1b[31m.hnt" in said


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


def test_text_is_printed_in_one_place() -> None:
    folder = Path(hn.__file__).parent / "cli"
    # The version needs no sanitizing and is printed without loading anything.
    allowed = {"output.py", "tables.py", "app.py"}
    for path in folder.glob("*.py"):
        found = re.findall(
            r"click\.(?:echo|secho|print)|\bprint\(|std(?:out|err)\.write", path.read_text()
        )
        assert path.name in allowed or not found, f"{path.name}: {found}"

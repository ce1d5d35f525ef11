"""Commands on a trace without most names: optional fields are absent in the JSON."""

from pathlib import Path

import pytest

import homenode as hn
from support.command import Command
from support.traces import make_named_trace

# Every kind of memory; only the stacks of a heap block and of a mapped file are known.
_STACKED = {"stack": 1, "thread": 0}
_RANGES = [
    {"kind": "static", "name": "table", "layout": 1},
    {"kind": "heap"} | _STACKED,
    {"kind": "heap"},
    {"kind": "stack", "thread": 1},
    {"kind": "thread-local"},
    {"kind": "mapping", "name": "/db/data.mdb"} | _STACKED,
    {"kind": "mapping"},
]
_STARTS = range(0x1000, 0x8000, 0x1000)
_METADATA = {
    "ranges": [
        {"start": start, "size": 256, **row} for start, row in zip(_STARTS, _RANGES, strict=True)
    ],
    "stacks": [{"frames": [0, 1, 2]}],
    # The frame that would name the block is unknown.
    "frames": [{}, {"function": "mdb_env_open"}, {"function": "main", "file": "drv.c", "line": 17}],
    "layouts": [{"name": "Table", "size": 16}],
    "lines": [],
}
_COMMANDS = (
    "sharing T --machine cc,spr-2s-lines --block-size 64",
    "sharing T --machine cc --block-size 64 -o OUT",
    "sharing T --machine cc --compare T",
    "advise T",
    "advise T --machine numa --policy ace --block-size 1K",
    "simulate T --machine markatos --realign --block-size 1K,4K",
    "simulate T --machine spr-2s-lines",
    "transform realign T -o OUT --page-size 4K",
    "report T -o OUT",
    "picture T -o OUT",
    "info T --json",
    "info T",
)


@pytest.fixture
def unnamed(tmp_path: Path) -> hn.Trace:
    """Four threads that write each other's words, in each kind of memory and in unnamed memory."""
    return make_named_trace(tmp_path / "unnamed.hnt", [*_STARTS, 0x9000], _METADATA)


@pytest.mark.parametrize("line", _COMMANDS)
def test_a_command_runs_where_names_are_missing(
    homenode: Command, unnamed: hn.Trace, tmp_path: Path, line: str
) -> None:
    files = {"T": str(unnamed.path), "OUT": str(tmp_path / "out.html")}
    result = homenode(*(files.get(word, word) for word in line.split()))
    assert (result.code in {0, 1}, result.err) == (True, result.err)
    assert "Traceback" not in result.err


def test_the_stack_of_a_mapped_file_is_shown_from_its_first_frame(
    homenode: Command, unnamed: hn.Trace
) -> None:
    result = homenode("sharing", unnamed.path, "--machine", "cc", "--block-size", 64)
    stack = "/db/data.mdb   - (mdb_env_open) < drv.c:17 (main)"
    assert (result.code, stack in result.out) == (0, True), result.out + result.err

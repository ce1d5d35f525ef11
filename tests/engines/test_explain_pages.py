"""`homenode explain` for protocols of pages: tables, acquires and releases, errors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import homenode as hn
from homenode.cli.app import main
from homenode.report import controllers, messages, page_steps

if TYPE_CHECKING:
    from pathlib import Path

# What the last of some steps sends between nodes, where node 0 is the home and a cache has room
# for one line: the table of messages in docs/directory.md.
_MESSAGES = [
    ("0 W a0", ""),
    ("1 R a0", "read_fault 1-0, mapped 0-1, fetch 1-0, line 0-1"),
    ("1 W a0", "write_fault 1-0, mapped 0-1, fetch 1-0, line 0-1"),
    ("1 R a0; 1 W a0", "upgrade 1-0, mapped 0-1"),
    ("1 W a0; 1 W a1", ""),
    ("1 W a0; 2 W a1; 1 R a0", ""),
    ("1 R a0; 1 R b0", "fetch 1-0, line 0-1"),
    ("1 W a0; 1 R b0", "write_back 1-0, fetch 1-0, written_back 0-1, line 0-1"),
    ("1 W a0; 1 rel", "write_back 1-0, written_back 0-1, modified 1-0, notices_sent 0-1"),
    (
        "1 W a0; 2 R a0; 1 rel",
        "write_back 1-0, written_back 0-1, modified 1-0, write_notice 0-2, notices_sent 0-1, "
        "acknowledge 2-1",
    ),
    ("1 R a0; 1 rel", ""),
    ("1 W a0; 2 R a0; 2 acq", ""),
    ("1 W a0; 2 R a0; 1 rel; 2 acq", "unmap 2-0"),
    ("1 W a0; 2 W a1; 1 rel; 2 acq", "write_back 2-0, written_back 0-2, unmap 2-0"),
]


def _shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def _walk(text: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = hn.explain("lrc", example=text, **options).data["protocols"][0]["walk"]
    return found


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Two threads that read and write one line, without a lock."""
    path = str(tmp_path / "t.hnt")
    hn.Trace.from_numpy(
        thread=[0, 1, 1, 0, 1],
        kind=["W", "R", "I", "R", "W"],
        address=[0x1000, 0x1000, 0x3000, 0x1004, 0x1004],
        path=path,
    )
    return path


@pytest.mark.parametrize(("text", "expected"), _MESSAGES)
def test_each_step_takes_the_messages_that_are_documented(text: str, expected: str) -> None:
    step = _walk(text, home="fixed:node=0", processors=3)["steps"][-1]
    sent = [act["message"] for act in step["acts"] if act["message"]]
    crossing = [one for one in sent if one["way"] == "network"]
    assert ", ".join(f"{one['kind']} {one['from']}-{one['to']}" for one in crossing) == expected
    assert messages.crossed(step) == len(crossing)


def test_people_read_all_tables_and_every_message(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, "lrc")
    (protocol,) = hn.explain("lrc").data["protocols"]
    assert protocol["source"] in shown
    for controller in protocol["table"]["controllers"]:
        assert controller["title"] in shown
        for label in [*controller["states"], *controller["events"], *controller["senders"]]:
            assert f"{label['name']} {label['meaning']}" in re.sub(r" +", " ", shown)
        grid = controllers.grid(controller)
        for name, reason in grid.reasons.items():
            assert f"({name}) {reason}" in shown
    walk = protocol["walk"]
    for step in walk["steps"]:
        assert page_steps.reference(step, walk) in shown
        for act in step["acts"]:
            assert messages.message(act) in shown
    assert page_steps.summary(protocol) in shown


def test_every_cell_of_the_tables_is_in_its_grid() -> None:
    (protocol,) = hn.explain("lrc").data["protocols"]
    for controller in protocol["table"]["controllers"]:
        grid = controllers.grid(controller)
        assert [state for state, _ in grid.rows] == [s["name"] for s in controller["states"]]
        keys = [key for _, row in grid.rows for lines in row for line in lines for key in line.keys]
        assert len(keys) == len(set(keys))
        happens = [cell for cell in controller["cells"] if cell["never"] is None]
        assert len(keys) == sum(len(cell["senders"]) or 1 for cell in happens)
        used = {
            controllers.used(act, protocol["table"])
            for step in protocol["walk"]["steps"]
            for act in step["acts"]
            if act["controller"] == controller["name"]
        }
        assert used
        assert used <= set(keys)


def test_data_are_complete_and_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(_shown(capsys, "lrc", "--json"))
    found = hn.explain("lrc")
    assert data == found.to_dict()
    assert found.has_pages
    assert found.has_directory
    assert set(data) == {
        *("version", "kind", "machine", "processors", "cache_size", "block_size", "associativity"),
        *("page_size", "header_bytes", "home", "coherent", "example", "trace", "protocols"),
    }
    assert (data["kind"], data["coherent"], data["machine"]) == ("directory", "pages", "dash-mesh")
    (protocol,) = data["protocols"]
    names = [controller["name"] for controller in protocol["table"]["controllers"]]
    assert names == ["mapping", "release", "home"]
    walk = protocol["walk"]
    assert set(walk) == {"pages", "blocks", "start", "steps", "totals"}
    for step in walk["steps"]:
        _check_step(step)
    totals = walk["totals"]
    assert sum(messages.crossed(step) for step in walk["steps"]) == sum(totals["messages"].values())
    assert walk["steps"][-1]["messages"] == totals["messages"]
    assert sum(step["fault"] for step in walk["steps"]) == totals["page_faults"]


def _check_step(step: dict[str, Any]) -> None:
    assert set(step) == {
        *("reference", "thread", "processor", "kind", "address", "size", "page", "block", "words"),
        *("private", "kernel", "fault", "tlb_miss", "miss", "cycles", "acts", "messages"),
        *("message_bytes", "before", "after", "scene"),
    }
    assert page_steps.is_access(step) == (step["address"] is not None)
    for act in step["acts"]:
        assert set(act) == {
            *("page", "block", "cause", "message", "node", "controller", "event", "sender"),
            *("state", "next", "actions", "entry"),
        }
        assert set(act["entry"]) == {"home", "state", "listed"}
    for page in step["scene"]["pages"]:
        assert set(page) == {"entry", "mappings", "releases"}
    for line in step["scene"]["lines"]:
        assert set(line) >= {"copies", "memory", "latest", "dirty"}


def test_nobody_sees_a_write_before_an_acquire() -> None:
    walk = _walk("1 R a0; 0 W a0; 0 rel; 1 R a0; 1 acq; 1 R a0", home="fixed:node=0")
    seen = [step["scene"]["lines"][0]["copies"][1]["values"] for step in walk["steps"]]
    assert seen == [[0], [0], [0], [0], [], [1]]
    outcomes = [page_steps.outcome(step) for step in walk["steps"][2:]]
    assert outcomes[:3] == ["tells of 1 page", "hit", "unmaps 1 page"]
    assert outcomes[3].startswith("page fault, invalidation miss")


def test_steps_are_told_in_words() -> None:
    walk = _walk("0 W a0; 1 R a0; 0 rel; 1 acq; 1 rel", home="fixed:node=0")
    said = page_steps.sentences(walk)
    assert said[3] == (
        "Node 1 acquires: unmaps 1 page. The page table of node 1, acquire; read-only, noticed "
        "becomes unmapped: flush the page's lines, dirty words to home, send unmap to home. The "
        "page table of node 1, written back. The release of node 1, written back. Unmap from node "
        "1 comes to the home, node 0: list the requester no longer. 1 message between nodes. The "
        "processor waits 321 cycles."
    )
    assert said[4].startswith("Node 1 releases: nothing was written.")
    assert "Its page table does not permit that: a page fault." in said[0]


def test_a_trace_is_walked_through_in_its_machine(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = hn.explain("lrc", trace, home="round-robin")
    assert found.data["trace"]["numbers"] == [0, 1, 3, 4]
    shown = _shown(capsys, "lrc", "--trace", trace, "--home", "round-robin")
    assert "(number 4 of the trace)" in shown


def test_homes_are_chosen() -> None:
    text = "2 R a0; 1 W c0; 0 R a0; 1 rel"
    for home, expected in [("first-touch", [2, 1]), ("fixed:node=0", [0, 0]), ("best-static", 2)]:
        pages = _walk(text, home=home)["steps"][-1]["scene"]["pages"]
        homes = [page["entry"]["home"] for page in pages]
        assert (homes if isinstance(expected, list) else len(homes)) == expected, home


def test_the_page_is_one_file_for_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "lrc.html"
    given = ["lrc", "--example", "0 W a0; 1 R a0; 0 rel", "--html", str(page)]
    shown = _shown(capsys, *given, "--home", "fixed:node=1")
    text = page.read_text()
    assert shown == f"{page}: {len(text.encode()):,} bytes\n"
    assert not re.search(r"(?:src|href)=\"?(?:https?:)?//", text)
    assert "--home fixed:node=1 --html page.html" in text
    assert "LRC, step by step" in text
    assert "{#" not in text
    assert "{%" not in text


def test_mistakes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        (["lrc", "dash"], "dash keeps blocks coherent and lrc pages: explain them one by one"),
        (["lrc", "mesi"], "mesi is a protocol of a bus and lrc one with a directory"),
        (["lrc:pointers=2"], "lrc"),
        (["lrc", "--home", "fixed:node=4"], "node=4"),
        (["lrc", "--example", "0 W a0; 1 acquire"], 'reference 2, "1 acquire": expected a proce'),
        (["lrc", "--example", "acq 0"], 'reference 1, "acq 0"'),
        (["lrc", "--example", "0 rel a0"], 'reference 1, "0 rel a0"'),
        (
            ["dash", "--example", "0 W a0; 0 rel"],
            "step 2 is an acquire or a release, at which dash",
        ),
        (
            ["mesi", "--example", "write-notices"],
            "it has acquires and releases, at which mesi does",
        ),
        (
            ["lrc", "--example", "0 W a0; 4 acq", "--processors", "4"],
            "reference 2 is by processor 4",
        ),
    ]
    for arguments, message in cases:
        assert main(["explain", *arguments]) == 2, arguments
        error = capsys.readouterr().err
        assert message in error, error
        assert error.count("\n") == 1, error
        assert "Traceback" not in error


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, "--help")
    assert "homenode explain lrc --example '0 W a0; 1 R a0; 0 rel; 1 acq; 1 R a0'" in shown

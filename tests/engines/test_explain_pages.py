"""`homenode explain` for protocols of pages: tables, acquires and releases, errors."""

import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.report import messages
from support.command import Printed


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


def test_data_are_complete_and_add_up(shown: Printed) -> None:
    data = json.loads(shown("lrc", "--json"))
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
    assert messages.is_access(step) == (step["address"] is not None)
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


def test_writes_are_invisible_before_an_acquire() -> None:
    walk = _walk("1 R a0; 0 W a0; 0 rel; 1 R a0; 1 acq; 1 R a0", home="fixed:node=0")
    seen = [step["scene"]["lines"][0]["copies"][1]["values"] for step in walk["steps"]]
    assert seen == [[0], [0], [0], [0], [], [1]]
    outcomes = [messages.outcome(step) for step in walk["steps"][2:]]
    assert outcomes[:3] == ["tells of 1 page", "hit", "unmaps 1 page"]
    assert outcomes[3].startswith("page fault, invalidation miss")


def test_steps_are_described_in_sentences() -> None:
    walk = _walk("0 W a0; 1 R a0; 0 rel; 1 acq; 1 rel", home="fixed:node=0")
    said = messages.sentences(walk)
    assert said[3] == (
        "Node 1 acquires: unmaps 1 page. The page table of node 1, acquire; read-only, noticed "
        "becomes unmapped: flush the page's lines, dirty words to home, send unmap to home. The "
        "page table of node 1, written back. The release of node 1, written back. Unmap from node "
        "1 comes to the home, node 0: list the requester no longer. 1 message between nodes. The "
        "processor waits 321 cycles."
    )
    assert said[4].startswith("Node 1 releases: nothing was written.")
    assert "Its page table does not permit that: a page fault." in said[0]


def test_a_trace_is_walked_through_in_its_machine(trace: str, shown: Printed) -> None:
    found = hn.explain("lrc", trace, home="round-robin")
    assert found.data["trace"]["numbers"] == [0, 1, 3, 4]
    said = shown("lrc", "--trace", trace, "--home", "round-robin")
    assert "(number 4 of the trace)" in said


def test_homes_are_chosen() -> None:
    text = "2 R a0; 1 W c0; 0 R a0; 1 rel"
    for home, expected in [("first-touch", [2, 1]), ("fixed:node=0", [0, 0]), ("best-static", 2)]:
        pages = _walk(text, home=home)["steps"][-1]["scene"]["pages"]
        homes = [page["entry"]["home"] for page in pages]
        assert (homes if isinstance(expected, list) else len(homes)) == expected, home


def test_mistakes_are_named(refused: Printed) -> None:
    cases = [
        (["lrc", "dash"], "lrc keeps pages coherent and dash keeps blocks coherent: explain them"),
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
        error = refused(*arguments)
        assert message in error, error
        assert error.count("\n") == 1, error


def test_help_has_an_example(shown: Printed) -> None:
    said = shown("--help")
    assert "homenode explain lrc --example '0 W a0; 1 R a0; 0 rel; 1 acq; 1 R a0'" in said

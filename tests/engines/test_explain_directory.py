"""`homenode explain` with a directory: tables, messages, the command and its errors."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.report import messages, steps
from support.command import Printed


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A block of its own for each of two threads, then one that both write, and a fetch."""
    path = str(tmp_path / "t.hnt")
    hn.Trace.from_numpy(
        thread=[0, 1, 1, 0, 1, 0, 1],
        kind=["W", "W", "I", "W", "R", "R", "W"],
        address=[0x1000, 0x2000, 0x3000, 0x3000, 0x3004, 0x3000, 0x3004],
        path=path,
    )
    return path


def test_text_names_waiting_states_and_senders(shown: Printed) -> None:
    flat = " ".join(shown("dash").split())
    assert "waits" in flat
    assert "send read to home → IS" in flat
    assert "cache N0 S → I" in flat.replace("invalidate (from its node's home)", "")


def test_data_are_complete_and_add_up(shown: Printed) -> None:
    data = json.loads(shown("dash", "dash:pointers=2", "--json"))
    assert data == hn.explain("dash,dash:pointers=2").to_dict()
    assert set(data) == {
        *("version", "kind", "machine", "processors", "cache_size", "block_size"),
        *("associativity", "page_size", "header_bytes", "home", "example", "trace", "protocols"),
    }
    assert (data["kind"], data["machine"], data["home"]) == (
        "directory",
        "dash-mesh",
        "first-touch",
    )
    for protocol in data["protocols"]:
        assert set(protocol) == {"name", "summary", "source", "table", "walk"}
        assert set(protocol["table"]) == {"controllers", "messages"}
        names = [controller["name"] for controller in protocol["table"]["controllers"]]
        assert names == ["cache", "home"]
        walk = protocol["walk"]
        assert set(walk) == {"blocks", "start", "steps", "totals"}
        for step in walk["steps"]:
            _check_step(step)
        sent = sum(messages.crossed(step) for step in walk["steps"])
        assert sent == sum(walk["totals"]["messages"].values())
        assert walk["steps"][-1]["messages"] == walk["totals"]["messages"]


def _check_step(step: dict[str, Any]) -> None:
    assert set(step) == {
        *("reference", "thread", "processor", "kind", "address", "size", "block", "words"),
        *("private", "kernel", "miss", "acts", "messages", "message_bytes", "before", "after"),
        "scenes",
    }
    for act in step["acts"]:
        assert set(act) == {
            *("block", "cause", "message", "node", "controller", "event", "sender", "state"),
            *("next", "actions", "entry"),
        }
        assert set(act["entry"]) == {"home", "state", "owner", "listed", "overflow"}
    scene = step["scenes"][step["block"]]
    assert set(scene) == {"entry", "copies", "memory", "latest", "up_to_date"}
    assert [copy["state"] for copy in scene["copies"]] == step["after"]


def test_the_walk_counts_what_the_simulation_counts(trace: str) -> None:
    found = hn.explain("dash", trace, blocks=[0x1000, 0x2000, 0x3000], home="round-robin")
    walk = found.data["protocols"][0]["walk"]
    row = hn.simulate(
        trace, "dash-mesh", protocols="dash", order="trace", homes="round-robin", processors=2
    ).rows[0]
    names = ("references", "misses", "fills", "local_fills", "upgrades", "messages")
    assert {name: walk["totals"][name] for name in names} == {name: row[name] for name in names}
    # The fetch is no reference here.
    assert found.data["trace"]["numbers"] == [0, 1, 3, 4, 5, 6]


def test_a_full_pointer_list_broadcasts_invalidations() -> None:
    text = "1 R a0; 2 R a0; 0 W a0"
    full, short = hn.explain(
        ["dash", "dash:pointers=1"], example=text, home="fixed:node=0", processors=5
    ).data["protocols"]
    invalidations = [one["walk"]["totals"]["messages"]["invalidate"] for one in (full, short)]
    assert invalidations == [2, 4]
    entry = short["walk"]["steps"][1]["scenes"][0]["entry"]
    assert messages.entry(entry) == "shared, lists N1 and others"


def test_steps_are_described_in_sentences() -> None:
    walk = hn.explain("dash", example="0 W a0; 1 W a0; 2 R a0").data["protocols"][0]["walk"]
    said = messages.sentences(walk)
    assert said[2] == (
        "Node 2 reads word 0. A miss: it never had the block. The cache of node 2, load; I becomes "
        "IS: send read to home. Read from node 2 comes to the home, node 0; dirty becomes read "
        "forwarded: send forwarded read to owner. Forwarded read from node 0 comes to the cache of "
        "node 1; M becomes S: send data to requester, send sharing write-back to home. Data from "
        "node 1 comes to the cache of node 2; IS becomes S: complete. Sharing write-back from node "
        "1 comes to the home, node 0; read forwarded becomes shared: memory takes the data, list "
        "the owner, list the requester. 4 messages between nodes."
    )
    assert "Write comes to the home, node 0, within the node" in said[0]
    assert said[0].endswith("No message crosses.")


def test_homes_are_chosen() -> None:
    text = "2 R a0; 1 W c0; 0 R a0"
    for home, expected in [
        ("first-touch", [2, 1]),
        ("fixed:node=0", [0, 0]),
        ("round-robin", [0, 1]),
        ("best-static", [0, 1]),
    ]:
        steps_found = hn.explain("dash", example=text, home=home).steps()
        assert [scene["entry"]["home"] for scene in steps_found[-1]["scenes"]] == expected, home


def test_of_many_nodes_only_those_involved_are_shown(tmp_path: Path, shown: Printed) -> None:
    thread = [*range(26), 7, 19, 7]
    address = [0x1000 * (number + 1) for number in range(26)] + [0x40000] * 3
    path = str(tmp_path / "many.hnt")
    hn.Trace.from_numpy(thread=thread, kind="W", address=address, path=path)
    found = hn.explain("dash", path, home="fixed:node=3")
    assert messages.nodes(found.data) == [3, 7, 19]
    page = found.html()
    assert "<b>N19</b>" in page
    assert "<b>N8</b>" not in page
    assert "nodes that have nothing to do with this (23)" in page
    said = shown("dash", "--trace", path, "--home", "fixed:node=3")
    assert re.search(r"N19 writes word 0 \(number 27 of the trace\): cold miss +N19 M", said)
    assert "N3 → N7 forwarded write" in said


def test_what_cannot_be_read_is_no_page(tmp_path: Path, refused: Printed) -> None:
    page = tmp_path / "dash.html"
    refused("dash", "--example", "0 W a0; 1 R <b>", "--html", str(page))
    assert not page.exists()


def test_mistakes_are_named(trace: str, refused: Printed) -> None:
    cases = [
        (["dahs"], "moesi, dragon, mesi-memory, amsd-memory, pscr-memory, dash"),
        ([], "or with a directory: dash"),
        (["mesi", "dash"], "mesi is a protocol of a bus and dash one with a directory"),
        (["dash:pointers=0"], "pointers is a number from 1 to 1024"),
        (["dash", "--home", "fixed:node=4"], "node=4"),
        (["dash", "--home", "nowhere"], "unknown home"),
        (["mesi", "--home", "first-touch"], "--home: only machines with a directory"),
        (["dash", "--machine", "bus-smp"], "bus-smp"),
        (["mesi", "--machine", "dash-mesh"], "dash-mesh"),
        (
            ["dash", "--example", "0 W a0; 4 R a0", "--processors", "4"],
            "reference 2 is by processor 4, but with --processors 4 they are 0 to 3",
        ),
        (["dash", "--example", "0 W a0; 1 Q a0"], 'reference 2, "1 Q a0": expected a processor'),
        (["dash", "--example", "0 W a9"], 'reference 1, "0 W a9"'),
        (["dash", "--references", "3"], "--references is about a trace"),
        (["dash", "--trace", trace, "--block", "0x9000"], "there is no reference to the block"),
        (["dash", "--processors", "1025"], "1025 nodes"),
        (["dash", "--block-size", "8192"], "block size 8192"),
    ]
    for arguments, message in cases:
        assert message in refused(*arguments), arguments


def test_written_references_are_walked_on_a_bus_too() -> None:
    found = hn.explain("mesi", example="0 W a0; 1 R a0")
    assert [step["after"] for step in found.steps()] == [["M", "I"], ["S", "S"]]
    assert found.data["example"]["name"] == "given"
    assert not found.has_directory
    assert steps.title(found.data, found.data["protocols"][0]) == (
        "References as they were given, under mesi: 0 W a0; 1 R a0."
    )

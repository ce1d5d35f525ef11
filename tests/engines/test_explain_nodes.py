"""`homenode explain` for all protocols with messages between nodes: tables, messages, pages."""

import re
from pathlib import Path

import pytest

import homenode as hn
from homenode.report import controllers, messages
from support.command import Printed

# The messages of the last of some steps, where node 0 is the home and a cache has room for one
# block: the tables of messages in docs/directory.md.
_DASH = [
    ("0 R a0", ""),
    ("1 R a0", "request 1-0, reply 0-1"),
    ("0 W a0; 1 R a0", "request 1-0, reply 0-1"),
    ("1 W a0; 0 R a0", "forward 0-1, reply 1-0"),
    ("1 W a0; 2 R a0", "request 2-0, forward 0-1, reply 1-2, sharing_write_back 1-0"),
    ("2 R a0; 1 W a0", "request 1-0, invalidate 0-2, reply 0-1, ack 2-1"),
    ("0 W a0; 1 W a0", "request 1-0, reply 0-1"),
    ("1 W a0; 0 W a0", "forward 0-1, reply 1-0"),
    ("1 W a0; 2 W a0", "request 2-0, forward 0-1, reply 1-2, ownership_transfer 1-0"),
    ("1 R a0; 2 R a0; 1 W a0", "request 1-0, invalidate 0-2, reply 0-1, ack 2-1"),
    ("1 R a0; 1 W a0", "request 1-0, reply 0-1"),
    ("1 W a0; 1 R b0", "write_back 1-0, request 1-0, reply 0-1"),
    ("1 R a0; 1 R a0", ""),
]
_LRC = [
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
_SDD = [
    ("0 R a0", ""),
    ("1 R a0", "request 1-0, reply 0-1"),
    ("1 W a0; 2 R a0", "request 2-0, forward 0-1, reply 1-2, sharing_write_back 1-0"),
    ("1 W a0; 2 W a0", "request 2-0, forward 0-1, reply 1-2"),
    ("1 R a0; 1 W a0", "request 1-0, reply 0-1"),
    ("2 R a0; 1 R a0; 1 W a0", "request 1-0, reply 0-1, invalidate 1-2, ack 2-1"),
    ("2 R a0; 1 W a0", "request 1-0, invalidate 0-2, reply 0-1, ack 2-1"),
    ("2 R a0; 1 R a0; 1 R b0", "invalidate 1-2, request 1-0, ack 2-1, reply 0-1"),
    ("1 W a0; 1 R b0", "write_back 1-0, request 1-0, written_back 0-1, reply 0-1"),
]
_MESSAGES = [
    *(("dash", *row) for row in _DASH),
    *(("lrc", *row) for row in _LRC),
    *(("sdd", *row) for row in _SDD),
]


@pytest.mark.parametrize(("protocol", "text", "expected"), _MESSAGES)
def test_each_step_takes_the_messages_that_are_documented(
    protocol: str, text: str, expected: str
) -> None:
    step = hn.explain(protocol, example=text, home="fixed:node=0", processors=3).steps()[-1]
    sent = [act["message"] for act in step["acts"] if act["message"]]
    crossing = [one for one in sent if one["way"] == "network"]
    assert ", ".join(f"{one['kind']} {one['from']}-{one['to']}" for one in crossing) == expected
    assert messages.crossed(step) == len(crossing)


@pytest.mark.parametrize("name", ["dash", "lrc", "lrc-one-trip", "sdd"])
def test_text_has_all_tables_and_every_message(name: str, shown: Printed) -> None:
    text = shown(name)
    (protocol,) = hn.explain(name).data["protocols"]
    assert protocol["source"] in text
    for controller in protocol["table"]["controllers"]:
        assert controller["title"] in text
        for label in [*controller["states"], *controller["events"], *controller["senders"]]:
            assert f"{label['name']} {label['meaning']}" in re.sub(r" +", " ", text)
        grid = controllers.grid(controller)
        for letter, reason in grid.reasons.items():
            assert f"({letter}) {reason}" in text
        assert set(grid.reasons.values()) == {
            cell["never"] for cell in controller["cells"] if cell["never"]
        }
    walk = protocol["walk"]
    for step in walk["steps"]:
        assert messages.reference(step, walk) in text
        for act in step["acts"]:
            assert messages.message(act) in text
    assert messages.summary(protocol) in text


@pytest.mark.parametrize("name", ["dash", "dash:pointers=1", "lrc", "lrc-one-trip", "sdd"])
def test_every_cell_of_the_tables_is_in_its_grid(name: str) -> None:
    (protocol,) = hn.explain(name).data["protocols"]
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


@pytest.mark.parametrize(
    ("name", "example"),
    [("dash", "0 W a0; 1 R a0"), ("lrc", "0 W a0; 1 R a0; 0 rel"), ("sdd", "0 W a0; 1 R a0")],
)
def test_the_page_is_one_file_for_itself(
    name: str, example: str, tmp_path: Path, shown: Printed
) -> None:
    page = tmp_path / "page.html"
    given = [name, "--example", example, "--home", "fixed:node=1", "--html", str(page)]
    said = shown(*given)
    text = page.read_text()
    assert said == f"{page}: {len(text.encode()):,} bytes\n"
    assert not re.search(r"(?:src|href)=\"?(?:https?:)?//", text)
    assert "--home fixed:node=1 --html page.html" in text
    assert f"{name.upper()}, step by step" in text
    assert "{#" not in text
    assert "{%" not in text


def test_reads_at_once_come_back_from_a_full_buffer_or_join_those_of_a_proxy() -> None:
    example = "1 R b0 &; 2 R b0 &; 3 R b0 &; 4 R b0"
    given = {"example": example, "home": "fixed:node=0", "processors": 6}
    (walk,) = (one["walk"] for one in hn.explain("sdd", buffers="1", **given).data["protocols"])
    assert walk["totals"]["messages"]["bounce"] > 0
    first, last = walk["steps"][0], walk["steps"][-1]
    assert "cycles" not in first
    assert first["after"][1] == "IS"
    assert "bounce" in {act["event"] for act in last["acts"]}
    assert sorted(last["scenes"][0]["entry"]["listed"]) == [1, 2, 3, 4]
    found = hn.explain("sdd", proxies="basic:clusters=1", **given).data["protocols"][0]["walk"]
    assert found["totals"]["messages"]["follower"] == 3
    assert found["steps"][-1]["scenes"][0]["entry"]["listed"] == [5, 4, 3, 2, 1]


def test_a_proxy_cache_is_distinct_from_the_second_level() -> None:
    given = {
        "example": "1 R b0 &; 5 R b0 &; 2 R b0",
        "home": "fixed:node=0",
        "processors": 6,
        "proxies": "basic:clusters=1,allocate=separate:bytes=64",
    }
    (walk,) = (one["walk"] for one in hn.explain("sdd", **given).data["protocols"])
    last = walk["steps"][-1]
    (scene,) = last["scenes"]
    assert (scene["entry"]["listed"], scene["entry"]["in_proxy_caches"]) == ([5, 2, 1, 5], [0])
    assert scene["proxy_copies"][5]["state"] == "S"
    assert messages.entry(scene["entry"]).endswith("lists N5 (proxy cache) N2 N1 N5")
    assert messages.holders(last, walk) == "N1 S, N2 S, N5 S, N5 S (proxy cache)"
    assert "comes to the proxy cache of node 5" in messages.sentences(walk)[-1]

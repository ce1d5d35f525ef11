"""`homenode explain`: tables, steps and their sentences, the command and its errors."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.report import steps
from support.command import Printed

_PROTOCOLS = [
    *("mesi", "amsd", "pscr", "moesi", "dragon"),
    *("mesi-memory", "amsd-memory", "pscr-memory"),
]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Own blocks first, then one that both processors write."""
    path = str(tmp_path / "t.hnt")
    hn.Trace.from_numpy(
        thread=[0, 1, 0, 1, 0, 1, 0],
        kind=["W", "W", "W", "R", "R", "W", "R"],
        address=[0x1000, 0x2000, 0x3000, 0x3004, 0x3000, 0x3004, 0x3004],
        path=path,
    )
    return path


@pytest.mark.parametrize("protocol", _PROTOCOLS)
def test_text_has_the_whole_table_and_every_step(protocol: str, shown: Printed) -> None:
    said = shown(protocol)
    (data,) = hn.explain(protocol).data["protocols"]
    lines = [line.split() for line in said.splitlines()]
    for state in data["table"]["states"]:
        assert [state["name"], *state["meaning"].split()] in lines
    for row in data["table"]["rows"]:
        assert " ".join(steps.cell(row)).split() in lines
    for number, step in enumerate(data["walk"]["steps"], 1):
        start = [str(number), *steps.reference(step, data["walk"]).split()]
        assert any(line[: len(start)] == start for line in lines)
    assert steps.summary(data) in said


def test_data_are_complete_and_add_up(shown: Printed) -> None:
    data = json.loads(shown("--all", "--json"))
    assert data == hn.explain(_PROTOCOLS).to_dict()
    assert set(data) == {
        *("version", "machine", "processors", "cache_size", "block_size", "associativity"),
        *("instruction_cache", "cycles", "example", "trace", "protocols"),
    }
    assert data["example"]["name"] == "tour"
    for protocol in data["protocols"]:
        assert set(protocol) == {"name", "summary", "source", "table", "walk"}
        walk = protocol["walk"]
        assert set(walk) == {"caches", "blocks", "start", "steps", "totals", "bus_cycles"}
        assert sum(step["cycles"] for step in walk["steps"]) == walk["bus_cycles"]
        _check_steps(walk)


def _check_steps(walk: dict[str, Any]) -> None:
    classes = [step["miss"]["class"] for step in walk["steps"] if step["miss"]]
    assert {name: classes.count(name) for name in walk["totals"]["misses"]} == (
        walk["totals"]["misses"]
    )
    for step in walk["steps"]:
        assert set(step) == {
            *("reference", "thread", "processor", "cache", "kind", "address", "size", "block"),
            *("words", "private", "kernel", "miss", "acts", "cycles", "before", "after", "scenes"),
        }
        for act in step["acts"]:
            assert set(act) == {
                *("block", "event", "state", "condition", "transaction", "source", "supplier"),
                *("next", "again", "cycles", "sharing", "signal", "answers"),
            }
        scene = step["scenes"][step["block"]]
        assert [copy["state"] for copy in scene["copies"]] == step["after"]
        assert scene["up_to_date"] == (scene["memory"] == scene["latest"])


def test_every_example_can_be_walked_under_every_protocol() -> None:
    rows = hn.table("examples")
    assert rows[-1]["name"] == "tour"
    # An example with acquires and releases is for a protocol that acts at these.
    names = [row["name"] for row in rows if row["protocol"] not in ("lrc", "lrc-one-trip")]
    assert len(names) == len(rows) - 2
    for name in names:
        found = hn.explain(_PROTOCOLS, example=name)
        assert found.protocols == _PROTOCOLS
        lengths = {len(found.steps(protocol)) for protocol in _PROTOCOLS}
        assert len(lengths) == 1
        assert min(lengths) >= 10


def test_steps_are_described_in_sentences() -> None:
    walk = hn.explain("mesi").data["protocols"][0]["walk"]
    said = steps.sentences(walk)
    assert said[0] == (
        "Processor 0 reads word 0 of block a. A miss: it never had the block. Read-block: memory "
        "supplies the block. Its own state goes from I to E. 66 cycles on the bus."
    )
    assert said[1] == (
        "Processor 0 writes word 0 of block a. A hit. Its own state goes from E to M. "
        "The bus is not needed."
    )
    assert "whether it needs what others wrote shows later" in said[4]
    assert said[7].endswith(
        "Now it shows: the miss of step 5 was false sharing, for nothing that others wrote was "
        "used in the copy's life."
    )
    assert "true sharing" in said[10]
    assert "The copy of block a is written back to memory and replaced (M to I)." in said[12]
    everything = " ".join(
        sentence
        for protocol in hn.explain(_PROTOCOLS).data["protocols"]
        for sentence in steps.sentences(protocol["walk"])
    )
    for part in (
        "word 0 of block b of its process's private area",
        "its copy went with the process",
        "Passive sharing: the block is private.",
        "takes the word",
        "True sharing: another holder used this word.",
    ):
        assert part in everything


def test_an_invalidation_without_other_copies_is_false_sharing(tmp_path: Path) -> None:
    path = tmp_path / "n.hnt"
    hn.Trace.from_numpy(
        thread=[0, 1, 1, 0],
        kind=["R", "R", "R", "W"],
        address=[0x100, 0x100, 0x110, 0x100],
        path=str(path),
    )
    found = hn.explain(
        "mesi", path, cache_size=16, associativity=1, block_size=16, blocks=[0x100, "0x110"]
    )
    said = steps.sentences(found.data["protocols"][0]["walk"])
    assert "The copy of block a is replaced silently (S to I)." in said[2]
    assert "False sharing: no other cache has the block." in said[3]


def test_what_is_never_decided_is_false_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "o.hnt"
    hn.Trace.from_numpy(
        thread=[0, 1, 0], kind=["W", "W", "R"], address=[0x100, 0x104, 0x100], path=str(path)
    )
    found = hn.explain("mesi", path)
    assert found.steps()[2]["miss"] == {"class": "invalidation_false", "known": None}
    said = steps.sentences(found.data["protocols"][0]["walk"])
    assert said[-1].endswith(
        "The references end here; the miss of step 3 was false sharing: nothing that others "
        "wrote was used."
    )


def test_a_trace_is_followed_where_it_is_shared(trace: str, shown: Printed) -> None:
    found = hn.explain("mesi,pscr", trace)
    assert found.data["trace"]["numbers"] == [2, 3, 4, 5, 6]
    assert found.data["example"] is None
    assert (found.data["cache_size"], found.data["block_size"]) == (2 << 20, 128)
    assert [step["processor"] for step in found.steps("pscr")] == [0, 1, 0, 1, 0]
    data = json.loads(shown("mesi", "--trace", trace, "--block", "0x2004", "--json"))
    assert data["trace"]["numbers"] == [1]
    first = hn.explain("mesi", trace, references=2, processors=1, block_size=32).data
    assert (first["trace"]["numbers"], first["trace"]["cut"]) == ([0], False)
    said = shown("mesi", "--trace", trace, "--references", "3")
    assert re.search(r"\n +2 +3 +P1 reads word 1 +cold miss", said)
    assert "t.hnt, 3 references under mesi" in said


def test_of_many_processors_those_have_a_column_that_reference_something(
    tmp_path: Path, shown: Printed
) -> None:
    # All of 26 threads have a block of their own, and numbers 7 and 19 share one.
    thread = [*range(26), 7, 19, 7]
    address = [0x1000 * (number + 1) for number in range(26)] + [0x40000] * 3
    path = str(tmp_path / "many.hnt")
    hn.Trace.from_numpy(thread=thread, kind="W", address=address, path=path)
    said = shown("mesi", "--trace", path)
    assert re.search(r"data from +P7 +P19 +memory", said)
    assert re.search(r"P19 writes word 0 .* P7 +I +M +old", said)
    assert "caches that nothing here goes to (24)" in said
    found = hn.explain("mesi", path)
    walk = steps.seen(found.data["protocols"][0]["walk"])
    assert walk["caches"] == ["P7", "P19"]
    assert [(step["cache"], step["after"]) for step in walk["steps"]] == [
        *((0, ["M", "I"]), (1, ["I", "M"]), (0, ["M", "I"])),
    ]
    assert [act["supplier"] for step in walk["steps"] for act in step["acts"]] == [None, 0, 1]
    assert "cache 19 supplies the block. In cache 19 M becomes I" in steps.sentences(walk)[2]
    page = found.html()
    assert "<b>P19</b>" in page
    assert "<b>P8</b>" not in page
    assert "caches that nothing here goes to (24)" in page
    # Up to eight, all have a column.
    few = shown("mesi", "--trace", path, "--processors", "8")
    assert re.search(r"P0 +P1 +P2 +P3 +P4 +P5 +P6 +P7", few)
    assert "Not shown" not in few


def test_split_caches_are_two_a_processor(tmp_path: Path, shown: Printed) -> None:
    machine, path = tmp_path / "split.toml", str(tmp_path / "code.hnt")
    machine.write_text(
        'name = "split"\nkind = "bus"\nbase = "bus-smp"\n[cache.split]\n'
        'size_bytes = { value = 32768, source = "test" }\n'
        'associativity = { value = 2, source = "test" }\n'
    )
    # Processor 0 executes code and reads it, processor 1 writes it, 0 executes it again.
    hn.Trace.from_numpy(thread=[0, 0, 1, 0], kind=["I", "R", "W", "I"], address=0x40, path=path)
    found = hn.explain("mesi", path, machine=str(machine))
    walk = found.data["protocols"][0]["walk"]
    assert walk["caches"] == ["P0 data", "P1 data", "P0 instructions", "P1 instructions"]
    assert [" ".join(step["after"]) for step in walk["steps"]] == [
        *("I I E I", "S I S I", "I M I I", "I S S I"),
    ]
    assert [step["cache"] for step in walk["steps"]] == [2, 0, 1, 2]
    assert [steps.suppliers(step, walk) for step in walk["steps"]] == [
        *("memory", "P0 instructions", "P0 data", "P1 data"),
    ]
    said = steps.sentences(walk)
    assert "the instruction cache of P0 supplies the block" in said[1]
    assert "In the data cache of P0 S becomes I. In the instruction cache of P0" in said[2]
    row = hn.simulate(path, protocols="mesi", machines=str(machine), order="trace").rows[0]
    assert {name: walk["totals"][name] for name in ("hits", "misses", "transactions")} == {
        name: row[name] for name in ("hits", "misses", "transactions")
    }
    page = found.html()
    assert "each with a data cache of 2 MB, 2-way, with blocks of 128 B, and an instruction" in page
    assert "<b>P1 instructions</b>" in page
    said = shown("mesi", "--trace", path, "--machine", str(machine))
    assert re.search(r"P0 data +P1 data +P0 instructions +P1 instructions", said)


def test_every_kind_of_reference_has_its_words(tmp_path: Path) -> None:
    path = tmp_path / "k.hnt"
    hn.Trace.from_numpy(
        thread=[0, 1, 0],
        kind=["A", "I", "W"],
        address=[0x100, 0x108, 0x11C],
        size=[8, 4, 8],
        flags=[1, 4, 0],
        path=str(path),
    )
    found = hn.explain("mesi", path, block_size=32, blocks=[0x100, 0x120])
    walk = found.data["protocols"][0]["walk"]
    # The last one straddles two blocks.
    assert [steps.reference(step, walk) for step in walk["steps"]] == [
        "P0 updates a0-1 (private)",
        "P1 fetches a2 (kernel)",
        "P0 writes a7",
        "P0 writes b0",
    ]
    said = steps.sentences(walk)
    assert said[0].startswith("Processor 0 updates words 0-1 of block a of its process's private")
    assert said[1].startswith("Processor 1, in the kernel, fetches word 2 of block a.")
    assert found.data["trace"]["numbers"] == [0, 1, 2, 2]


def test_a_parameter_is_part_of_the_name(shown: Printed) -> None:
    spec = "pscr:private_kernel=yes"
    assert hn.explain(spec).protocols == [spec]
    assert "PSCR:private_kernel=yes, step by step" in hn.explain(spec).html()
    assert spec in shown(spec)


def test_the_page_is_one_small_file_for_itself(tmp_path: Path, shown: Printed) -> None:
    page = tmp_path / "all.html"
    said = shown("--all", "--html", str(page))
    text = page.read_text()
    assert said == f"{page}: {len(text.encode()):,} bytes\n"
    assert len(text) < 40_000 * len(_PROTOCOLS)
    assert not re.search(r"(?:src|href)=\"?(?:https?:)?//", text)
    assert f"homenode explain {' '.join(_PROTOCOLS)} --html page.html" in text
    assert list(tmp_path.iterdir()) == [page]
    # The page and the data by one command, and the same page again.
    again = tmp_path / "again.html"
    json.loads(shown("--all", "--html", str(again), "--json"))
    assert again.read_text() == text


def test_names_in_the_page_are_text(tmp_path: Path) -> None:
    path = tmp_path / "<b>&.hnt"
    hn.Trace.from_numpy(thread=[0], kind=["W"], address=[0x100], path=str(path))
    text = hn.explain("mesi", path).html("homenode <script>")
    assert "&lt;b&gt;&amp;.hnt" in text
    assert "<b>&." not in text
    assert "homenode &lt;script&gt;" in text


def test_mistakes_are_named(trace: str, tmp_path: Path, refused: Printed) -> None:
    cases = [
        ([], f"say which protocol: {', '.join(_PROTOCOLS)}; or --all"),
        (["mesi", "--all"], "name protocols or say --all"),
        (["mosi"], "expected one of mesi, amsd, pscr"),
        (["mesi", "--example", "x"], "unknown example"),
        (["mesi", "--example", "tour", "--trace", trace], "--example and --trace"),
        (["mesi", "--references", "3"], "--references is about a trace"),
        (["mesi", "--block", "0x10"], "--block is about a trace"),
        (["mesi", "--trace", trace, "--block", "x"], "expected an address in it"),
        (["mesi", "--trace", trace, "--block", "0x9000"], "no reference to the block at 0x9000"),
        (["mesi", "--trace", trace, "--references", "1000"], "a walk has 1 to 500"),
        (["mesi", "--trace", str(tmp_path / "no.hnt")], "no.hnt"),
        (["mesi", "--block-size", "24"], "24"),
        (["mesi", "--block-size", "16,32"], "expected one block size"),
        (["mesi", "--cache-size", "100"], "cache size 100 bytes"),
        (["mesi", "--processors", "1025"], "1025 processors"),
        (["mesi", "--machine", "numa"], "numa"),
        (["mesi", "--private-range", "5"], "expected LO-HI"),
        (["mesi", "--html", str(tmp_path / "no" / "x.html")], "no"),
        (["mesi", "--trace", trace, "--html", trace], "the output is also an input"),
    ]
    for arguments, message in cases:
        assert message in refused(*arguments), arguments
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.hnt"]
    with pytest.raises(hn.ConfigError, match="not explained here"):
        hn.explain("mesi").steps("amsd")
    with pytest.raises(hn.ConfigError, match="there is no option colour"):
        hn.explain("mesi", colour="red")  # type: ignore[call-arg]


def test_a_damaged_trace_is_an_error_with_its_name(
    trace: str, tmp_path: Path, refused: Printed
) -> None:
    broken = tmp_path / "broken.hnt"
    with open(trace, "rb") as file:  # noqa: PTH123 - a name, not a path
        broken.write_bytes(file.read()[:-9])
    assert "broken.hnt" in refused("mesi", "--trace", str(broken))

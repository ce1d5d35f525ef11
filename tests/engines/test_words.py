"""References counted in words: while simulating, and by the transform ``words``."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import homenode as hn
from support.command import Command

_EXAMPLE = "0 W 0x1000 8\n1 R 0x1000 8\n1 R 0x1004 4\n0 R 0x1006 4\n"
# What may differ: the name of the trace, and the note that words were counted.
_OF_THE_TRACE = ("trace", "trace_checksum", "word_bytes", "suggestions")


@pytest.fixture(name="mixed")
def _mixed(tmp_path: Path) -> hn.Trace:
    """References of all sizes, aligned and not, by four threads."""
    rng = np.random.default_rng(3)
    count = 4000
    return hn.Trace.from_numpy(
        thread=(np.arange(count) // 10) % 4,
        kind=(rng.random(count) < 0.3).astype(np.uint8),
        address=0x10000 + rng.integers(0, 0x4000, count),
        size=rng.choice([1, 2, 4, 8, 16, 64], count),
        path=tmp_path / "mixed.hnt",
    )


def _plain(found: Any) -> Any:
    """Results without what may differ."""
    if isinstance(found, dict):
        return {key: _plain(value) for key, value in found.items() if key not in _OF_THE_TRACE}
    return [_plain(value) for value in found] if isinstance(found, list) else found


@pytest.fixture(name="example")
def _example(tmp_path: Path, homenode: Command) -> str:
    text, trace = tmp_path / "t.txt", tmp_path / "t.hnt"
    text.write_text(_EXAMPLE)
    assert homenode("import", text, "--format", "text", "-o", trace).code == 0
    return str(trace)


def test_the_example_has_seven_accesses(example: str, homenode: Command) -> None:
    asked = ["--machine", "numa", "--policy", "optimal", "--block-size", "64", "--json"]
    plain = json.loads(homenode("simulate", example, *asked).out)
    assert plain[0]["accesses"] == 4
    words = json.loads(homenode("simulate", example, *asked, "--word-bytes", "4").out)
    assert words[0]["accesses"] == words[0]["references"] == 7


def test_the_command_line_gives_what_the_trace_of_words_gives(
    mixed: hn.Trace, tmp_path: Path, homenode: Command
) -> None:
    made = tmp_path / "words.hnt"
    assert homenode("transform", "words", mixed.path, "-o", made, "--word-bytes", "4").code == 0
    for command in (
        ["simulate", "--machine", "ace,numa", "--block-size", "64,4K"],
        ["optimal", "--machine", "ace", "--block-size", "4K", "--certify"],
        ["sharing", "--machine", "cc", "--block-size", "64"],
    ):
        asked = [*command[1:], "--json"]
        expected = _plain(json.loads(homenode(command[0], str(made), *asked).out))
        for threads in ("1", "2"):
            more = ["--word-bytes", "4", "--threads", threads]
            found = json.loads(homenode(command[0], str(mixed.path), *asked, *more).out)
            assert _plain(found) == expected, command


def test_results_say_what_was_counted(mixed: hn.Trace) -> None:
    result = hn.simulate(mixed, "numa", "optimal", 4096, word_bytes=8)
    assert result.configuration["word_bytes"] == result.provenance["word_bytes"] == 8
    assert result.provenance["trace_checksum"] == mixed.checksum
    assert "word_bytes" not in hn.simulate(mixed, "numa", "optimal", 4096).provenance
    made = hn.transform("words", mixed, word_bytes=8)
    assert "transform words word-bytes=8" in made.metadata["provenance"][-1]
    assert result.rows[0]["references"] == made.references > mixed.references
    assert hn.pmap(mixed, word_bytes=8)["references"] == made.references
    assert hn.tlb(mixed, "r4000", 4096, word_bytes=8).rows[0]["references"] == made.references


def test_turns_of_other_interleavings_are_of_words(mixed: hn.Trace) -> None:
    made = hn.transform("words", mixed, word_bytes=4)
    words = hn.interleavings(mixed, "cc", "optimal", 64, word_bytes=4)
    assert words == hn.interleavings(made, "cc", "optimal", 64)
    assert words != hn.interleavings(mixed, "cc", "optimal", 64)


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("simulate", ["--word-bytes", "3"], "--word-bytes: words of 3 bytes: give a power of two"),
        ("simulate", ["--word-bytes", "128"], "from 1 to 64, such as 4"),
        ("simulate", ["--word-bytes", "0"], "'--word-bytes'"),
        ("simulate", ["--word-bytes", "four"], "'--word-bytes'"),
        ("optimal", ["--word-bytes", "3"], "--word-bytes: words of 3 bytes"),
        ("sharing", ["--machine", "cc", "--word-bytes", "3"], "--word-bytes: words of 3 bytes"),
        ("pmap", ["--word-bytes", "3"], "--word-bytes: words of 3 bytes"),
        ("tlb", ["--word-bytes", "3"], "--word-bytes: words of 3 bytes"),
        ("simulate", ["--machine", "bus-smp", "--word-bytes", "4"], "--word-bytes is for machines"),
        ("simulate", ["--machine", "dash-mesh", "--word-bytes", "4"], "--word-bytes is for mach"),
        ("sharing", ["--word-bytes", "4"], "--word-bytes: spr-2s-lines has a clock"),
        ("advise", ["--machine", "spr-2s-lines", "--word-bytes", "4"], "a machine with a clock"),
        ("sensitivity", ["--reinterleave", "1", "--word-bytes", "4"], "spr-2s-lines has a clock"),
        ("transform words", ["-o", "u.hnt", "--word-bytes", "3"], "word-bytes=3: expected a power"),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    example: str, homenode: Command, command: str, options: list[str], said: str
) -> None:
    outcome = homenode(*command.split(), example, *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert "word-bytes" in outcome.err.strip().splitlines()[-1]

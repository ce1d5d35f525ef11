"""Traces of several processes as one: `homenode transform merge`."""

import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from support.command import Command


def _imported(path: Path, text: str) -> hn.Trace:
    """A trace from lines of the text format."""
    source = path.with_suffix(".txt")
    source.write_text(text)
    made = hn.Trace.import_(source, path, format="text")
    source.unlink()
    return made


def _writer(path: Path, address: int = 0x10000, times: int = 300) -> hn.Trace:
    """One thread that writes 16 words again and again."""
    words = [address + 4 * (i % 16) for i in range(times)]
    return hn.Trace.from_numpy(thread=0, kind="W", address=words, size=4, path=path)


def _invalidated(row: dict[str, Any]) -> int:
    """Misses because another processor wrote."""
    return sum(row["misses"][f"invalidation_{why}"] for why in ("true", "false"))


def test_the_command_merges_and_reports(homenode: Command, trace: hn.Trace, tmp_path: Path) -> None:
    single = _writer(tmp_path / "single.hnt")
    mix = tmp_path / "mix.hnt"
    words = ("transform", "merge", trace.path, single.path, trace.path, "-o", mix)
    shown = homenode(*words, "--quantum", 10)
    assert shown.code == 0, shown.err
    for text in ("mix.hnt: 8,300 references", "processes of the mix", "5-8", "0x800000000000"):
        assert text in shown.out
    said = json.loads(homenode(*words, "--quantum", 10, "--json").out)
    assert said["traces"] == [str(path) for path in (trace.path, single.path, trace.path)]
    (made,) = said["outputs"]
    processes = made["report"]["processes"]
    assert [row["first_thread"] for row in processes] == [0, 4, 5]
    assert [row["pids"] for row in processes] == [[1], [2], [3]]
    assert [row["private_references"] for row in processes] == [0, 300, 0]
    assert made["provenance"][-1].startswith("transform merge quantum=10 private=auto (homenode ")
    again = hn.transform("merge", [trace, str(single.path), trace], quantum=10)
    assert again.checksum == made["checksum"]
    frame = again.to_arrow().to_pandas()
    assert frame["pid"].tolist()[:40] == [1] * 10 + [2] * 10 + [3] * 10 + [1] * 10
    of_third = frame[frame["pid"] == 3]
    first = trace.to_arrow().to_pandas()
    assert (of_third["address"].to_numpy() - 2 * 2**47 == first["address"].to_numpy()).all()
    assert (of_third["thread"].to_numpy() - 5 == first["thread"].to_numpy()).all()


def test_shared_memory_is_the_same_for_all(homenode: Command, tmp_path: Path) -> None:
    made = [_writer(tmp_path / f"{name}.hnt") for name in "ab"]
    apart = hn.transform("merge", made)
    together = hn.transform("merge", made, shared="0x10000-0x11000")
    assert together.report is not None
    assert together.report["shared"] == [[0x10000, 0x11000]]
    for order in ("trace", "clock"):
        for mix, shares in ((apart, False), (together, True)):
            row = hn.simulate(mix, "bus-smp", protocols="mesi", processors=2, order=order).rows[0]
            assert (_invalidated(row) > 0) == shares, (order, shares)
    words = [path.path for path in made]
    shown = homenode(
        *("transform", "merge", *words, "-o", tmp_path / "m.hnt"), "--shared", "0x10000-0x11000"
    )
    assert "0x10000-0x11000 at the same place for all" in shown.out


def test_files_mapped_as_shared_are_known_by_their_names(tmp_path: Path) -> None:
    def process(name: str, start: int, mapped: str) -> hn.Trace:
        words = [f"0 W {start + 4 * (i % 16):x} 4" for i in range(300)]
        said = f"@ 0 map 0x{start:x} 4096 1 {mapped}"
        return _imported(tmp_path / name, "\n".join([said, *words, ""]))

    one = process("one.hnt", 0x10000, "/data/x")
    other = process("other.hnt", 0x40000, "/data/x")
    third = process("third.hnt", 0x40000, "/data/y")
    for processes, shares in (([one, other], True), ([one, third], False)):
        mix = hn.transform("merge", processes)
        row = hn.simulate(mix, "bus-smp", protocols="mesi", processors=2).rows[0]
        assert (_invalidated(row) > 0) == shares
        assert mix.report is not None
        assert [p["private_references"] for p in mix.report["processes"]] == [0, 0]


def test_more_processes_than_processors(tmp_path: Path) -> None:
    made = [_writer(tmp_path / f"{i}.hnt", 0x10000 * (i + 1), 1000) for i in range(7)]
    mix = hn.transform("merge", [made[i % 7] for i in range(26)])
    assert (mix.threads, mix.references) == (26, 26_000)
    result = hn.simulate(
        mix, "bus-smp", protocols=["mesi", "pscr"], processors=4, scheduler="affinity"
    )
    for row in result:
        assert (row["references"], row["forced"]) == (26_000, 0)
        # One private block of 16 words each, which follows its process.
        assert row["misses"]["cold"] >= 26
        assert row["coherence"]["true"] == row["coherence"]["false"] == 0
    assert result.provenance["notes"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing argument 'T.hnt...'"),
        (["T", "no.hnt", "-o", "U"], "no.hnt"),
        (["T", "T", "-o", "T"], "the output is also an input"),
        (["T", "K", "-o", "U"], "k.hnt is of a whole system"),
        (["T", "T", "-o", "U", "--shared", "0x10-0x20"], "multiples of 4096"),
        (["T", "T", "-o", "U", "--quantum", "none"], "quantum=none: expected a whole number"),
    ],
)
def test_mistakes_are_explained_and_leave_nothing(
    homenode: Command, trace: hn.Trace, tmp_path: Path, words: list[str], said: str
) -> None:
    kernel = hn.Trace.from_numpy(
        thread=0, kind="R", address=[0x40], kernel=[True], path=tmp_path / "k.hnt"
    )
    names = {"T": trace.path, "U": tmp_path / "u.hnt", "K": kernel.path}
    done = homenode("transform", "merge", *(names.get(word, word) for word in words))
    assert done.code == 2
    assert said in done.err
    assert sorted(tmp_path.iterdir()) == sorted([trace.path, kernel.path])


def test_other_transforms_take_one_trace(trace: hn.Trace) -> None:
    with pytest.raises(hn.ConfigError, match="expected one trace, found 2"):
        hn.transform("local", [trace, trace])

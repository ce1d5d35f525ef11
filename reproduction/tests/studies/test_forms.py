"""How the traces of a study are counted and paced."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import ConfigError
from homenode_studies import studies
from homenode_studies.studies.forms import AS_RECORDED, TraceForm, formed


def _recorded(folder: Path) -> hn.Trace:
    """Two threads in turns of three; the first makes references of eight bytes."""
    thread = [0, 0, 0, 1, 1, 1]
    return hn.Trace.from_numpy(
        thread=thread,
        kind="W",
        address=[0x1000 + 64 * at for at in range(6)],
        size=[4 if one else 8 for one in thread],
        path=folder / "t.hnt",
    )


def _rows(trace: hn.Trace) -> list[tuple[int, int]]:
    found = trace.to_arrow().to_pydict()
    return list(zip(found["thread"], found["address"], strict=True))


def test_words_come_in_turns_of_one(tmp_path: Path) -> None:
    recorded = _recorded(tmp_path)
    made = formed(recorded, TraceForm(4, 1), tmp_path)
    rows = _rows(made)
    assert len(rows) == 9
    assert [thread for thread, _ in rows[:6]] == [0, 1] * 3
    assert [address for thread, address in rows if thread == 0][:2] == [0x1000, 0x1004]
    assert made.path.name == "t-words4-turns1.hnt"


def test_a_form_is_made_once(tmp_path: Path) -> None:
    recorded = _recorded(tmp_path)
    first = formed(recorded, TraceForm(quantum=1), tmp_path)
    when = first.path.stat().st_mtime_ns
    again = formed(recorded, TraceForm(quantum=1), tmp_path)
    assert (again.path, again.path.stat().st_mtime_ns) == (first.path, when)
    assert not list(tmp_path.glob("making-*"))
    assert formed(recorded, AS_RECORDED, tmp_path) is recorded


def test_a_study_has_its_publication_s_form_unless_told_otherwise(tmp_path: Path) -> None:
    words: Any = {"quick": True, "traces": tmp_path, "programs": ["p-qsort"]}
    usual = studies.study("bolosky-appendix", **words)
    asked = studies.study("bolosky-appendix", **words, word_bytes=0, quantum=0)
    assert (usual.provenance["word_bytes"], usual.provenance["turns"]) == (4, 1)
    assert "word_bytes" not in asked.provenance
    assert usual.provenance["traces"][0]["references"] > asked.provenance["traces"][0]["references"]


@pytest.mark.parametrize("option", ["word_bytes", "quantum"])
def test_machines_with_a_clock_take_traces_as_they_are(option: str) -> None:
    chosen: Any = {option: 1}
    with pytest.raises(ConfigError, match=f"--{option.replace('_', '-')}: talbot is about"):
        studies.study("talbot", **chosen)

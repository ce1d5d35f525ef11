"""Replays of recordings compared with runs that the machine drives."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import homenode as hn
from homenode_studies import studies
from homenode_studies.studies import driven, programs
from homenode_studies.studies.context import StudyContext
from homenode_studies.studies.marchetti import runs


def _context(folder: Path, *names: str) -> StudyContext:
    publication = studies.find("marchetti").publication
    known = [p for p in programs.available(publication, quick=False) if p.name in names]
    return StudyContext(publication, folder, quick=False, programs=known)


def test_the_error_is_that_of_replays_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = driven.table(_context(tmp_path, "mp3d", "sor"), *runs.driven())
    rows = {row["program"]: row for row in made.rows}
    assert list(rows) == ["sor", "mp3d"], "in the publication's order"
    assert rows["sor"]["error"] == 0, "its threads have work of their own"
    found = rows["mp3d"]
    assert found["error"] == pytest.approx(100 * (found["replay"] - found["run"]) / found["run"])
    assert "-p 16 -n 500" in found["arguments"], "the small size, also of a full study"

    def again(*_: Any, **_options: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(driven, "run", again)
    monkeypatch.setattr(driven, "simulate", again)
    kept = driven.table(_context(tmp_path, "mp3d", "sor"), *runs.driven())
    assert kept.rows == made.rows


def test_a_program_that_fails_under_the_machine_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = SimpleNamespace(run_summary={"exit_code": 3}, rows=[])
    monkeypatch.setattr(driven, "run", lambda *_, **_options: failed)
    with pytest.raises(hn.ConfigError, match="sor ended with exit code 3 under dash-mesh"):
        driven.table(_context(tmp_path, "sor"), *runs.driven())

"""Traces of the programs that studies record."""

import platform
from pathlib import Path

import pytest

from homenode import ConfigError
from homenode.trace import Trace
from homenode_studies import workloads
from homenode_studies.studies import programs

SMALL = programs.Program("sor", "sor", "splash", ("-n", "8"), 2)


def test_a_recording_that_was_cut_off_is_not_taken_for_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: list[str], path: Path, **_options: object) -> Trace:
        path.write_bytes(b"what there was by then")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trace, "record", killed)
        with pytest.raises(KeyboardInterrupt):
            programs.trace_of(SMALL, tmp_path)
    found = programs.trace_of(SMALL, tmp_path)
    assert found.metadata["exit_code"] == 0
    assert not list(tmp_path.glob("recording-*"))
    again = programs.trace_of(SMALL, tmp_path)
    assert again.path == found.path


def test_a_program_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    wrong = programs.Program("sor", "sor", "splash", ("-n", "nothing"), 2)
    with pytest.raises(ConfigError, match="sor ended with exit code"):
        programs.trace_of(wrong, tmp_path)
    assert not list(tmp_path.glob("sor-*.hnt"))


def test_a_trace_is_recorded_again_when_a_header_of_its_program_changes() -> None:
    texts = programs._sources(workloads.find("p-gauss").path, set())
    names = ("p-gauss.c", "presto.h", "workload.h")
    assert texts == [workloads.source_file(name).read_bytes() for name in names]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is one kind of hooks only")
def test_a_recording_with_other_hooks_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def stop(_: list[str], path: Path, **_options: object) -> Trace:
        made.append(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(Trace, "record", stop)
    monkeypatch.setattr(workloads, "build", lambda *_: tmp_path / "sor")
    for kind in ("compiler", "assembly"):
        monkeypatch.setenv("HOMENODE_HOOKS", kind)
        with pytest.raises(KeyboardInterrupt):
            programs.trace_of(SMALL, tmp_path)
    monkeypatch.delenv("HOMENODE_HOOKS")
    with pytest.raises(KeyboardInterrupt):
        programs.trace_of(SMALL, tmp_path)
    assert made[0] != made[1] == made[2]
    monkeypatch.setenv("HOMENODE_HOOKS", "other")
    with pytest.raises(ConfigError, match="HOMENODE_HOOKS=other"):
        programs.trace_of(SMALL, tmp_path)

"""Recording from the command line: what it prints where, and the programs it needs."""

import contextlib
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import homenode as hn
from homenode.cli import progress as progress_module
from homenode.cli.progress import Progress
from support import workloads
from support.command import Command

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine"),
    pytest.mark.timeout(1200),
]


@pytest.fixture(scope="module")
def gauss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workloads.build("gauss", tmp_path_factory.mktemp("bin") / "gauss")


def test_the_programs_output_stays_its_own(gauss: Path, program: Command, tmp_path: Path) -> None:
    words = ["--", gauss, "-p", "4", "--quick"]
    native = subprocess.run([gauss, *words[2:]], capture_output=True, text=True, check=True)
    made = program("record", "-o", tmp_path / "t.hnt", *words)
    assert made.code == 0, made.err
    assert made.out == native.stdout
    assert "references" in made.err
    trace = hn.Trace.open(tmp_path / "t.hnt")
    assert trace.threads == 4
    assert trace.metadata["program"].endswith("gauss")
    assert any(line["file"].endswith("gauss.c") for line in trace.metadata["lines"])


def test_json_is_all_there_is_on_standard_output(
    gauss: Path, program: Command, tmp_path: Path
) -> None:
    made = program("record", "--json", "-o", tmp_path / "t.hnt", gauss, "-p", "2", "--quick")
    summary = json.loads(made.out)
    assert summary["references"] == hn.Trace.open(tmp_path / "t.hnt").references
    assert "gauss: ok" in made.err


def test_two_recordings_are_the_same_file(gauss: Path, tmp_path: Path) -> None:
    command = [str(gauss), "-p", "3", "--quick"]
    first = hn.Trace.record(command, tmp_path / "a.hnt")
    again = hn.Trace.record(command, tmp_path / "b.hnt")
    assert first.path.read_bytes() == again.path.read_bytes()
    other = hn.Trace.record(command, tmp_path / "c.hnt", quantum=7)
    assert other.checksum != first.checksum


def test_a_seed_gives_turns_of_random_length_that_repeat(gauss: Path, tmp_path: Path) -> None:
    command = [str(gauss), "-p", "3", "--quick"]
    exact, first, again, other = (
        hn.Trace.record(command, tmp_path / f"{i}.hnt", seed=seed)
        for i, seed in enumerate((0, 1, 1, 2))
    )
    assert first.path.read_bytes() == again.path.read_bytes()
    assert len({exact.checksum, first.checksum, other.checksum}) == 3
    assert first.metadata["order"] == "deterministic quantum=100 seed=1 repeatable"
    # The same program, so the same references except for those of waiting.
    assert abs(first.references - exact.references) < 0.1 * exact.references


def test_repeats_and_quanta_are_recordings_of_their_own(
    gauss: Path, program: Command, tmp_path: Path
) -> None:
    words = ("--repeat", 2, "--quantum", "50,200", "--json", "-o", tmp_path / "t.hnt")
    made = program("record", *words, gauss, "-p", "2", "--quick")
    assert made.code == 0, made.err
    summaries = json.loads(made.out)
    names = [summary["output"].rpartition("/")[2] for summary in summaries]
    assert names == ["t.q50.s0.hnt", "t.q50.s1.hnt", "t.q200.s0.hnt", "t.q200.s1.hnt"]
    assert len({summary["checksum"] for summary in summaries}) == 4


def _everything(leader: int) -> str:
    """What was written to a terminal that is now closed; one read returns a part of it."""
    parts = []
    with os.fdopen(leader, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
        while part := terminal.read(65536):
            parts.append(part)
    return b"".join(parts).decode()


def test_progress_is_shown_on_a_terminal_only_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress("quick") as report:
            report(1, 2)
        monkeypatch.setattr(progress_module, "_QUIET_SECONDS", 0)
        with Progress("simulating") as report:
            report(1_500_000, 3_000_000)
            report(3_000_000, 3_000_000)
    shown = _everything(leader)
    assert "quick" not in shown
    assert "simulating" in shown
    assert "100%" in shown
    assert "references/s" in shown


def test_a_recording_shows_how_much_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace = tmp_path / "t.hnt.partial"
    trace.write_bytes(b"0" * 2500)
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(progress_module, "_QUIET_SECONDS", 0)
        monkeypatch.setenv("COLUMNS", "120")
        for done in (12_300_000, 12_400_000):
            with Progress("recording", growing=trace) as report:
                report(done, None)
            trace.unlink(missing_ok=True)
        with Progress("json", quiet=True) as report:
            report(1, None)
    shown = _everything(leader)
    assert "12.3 M references, " in shown
    assert " references/s, 2.5 kB" in shown
    assert "12.4 M references, " in shown
    assert "json" not in shown


def test_progress_is_silent_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("simulating") as report:
        report(1, 2)
    assert capsys.readouterr().err == ""

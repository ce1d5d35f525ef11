"""Traces of tracers and profilers are imported, and samples are called samples everywhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import homenode as hn
from support.command import Command

FORMATS = Path(__file__).parents[2] / "testdata" / "formats"


@pytest.fixture
def samples(tmp_path: Path, homenode: Command) -> str:
    """A trace of samples, made on the command line."""
    out = str(tmp_path / "samples.hnt")
    done = homenode("import", FORMATS / "import.perf", "-o", out)
    assert done.code == 0
    assert "note: the trace holds samples" in done.err
    assert "note: 1 of 7 samples have no address and were left out" in done.err
    return out


def test_commands_say_that_they_count_samples(samples: str, homenode: Command) -> None:
    assert "all counts are of samples" in homenode("info", samples).out
    for command in ("simulate", "optimal", "sharing", "tlb"):
        done = homenode(command, samples)
        assert done.code == 0
        assert "note: the trace holds samples" in done.err, command


def test_python_finds_it_in_the_metadata_and_the_provenance(samples: str) -> None:
    assert hn.Trace.open(samples).metadata["sampling"].startswith("by perf")
    notes = hn.simulate(samples, "numa", "ace", 64).provenance["notes"]
    assert any("samples" in note for note in notes)


def test_a_transformed_trace_of_samples_is_still_one(samples: str) -> None:
    some = hn.transform("select", samples, threads="0,1")
    assert some.metadata["sampling"].startswith("by perf")


def test_a_view_of_dynamorio_is_a_whole_trace(homenode: Command) -> None:
    trace = hn.Trace.import_(FORMATS / "import.drmemtrace")
    info = trace.info
    assert (info["references"], info["fetches"], info["atomics"]) == (5, 9, 1)
    assert info["kernel"] == 2
    assert homenode("info", str(trace.path)).out.count("samples") == 0


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_the_example_with_valgrind_imports_a_program_that_prints(
    homenode: Command, tmp_path: Path
) -> None:
    [example] = re.findall(r".*valgrind.*", homenode("import", "--help").out)
    ours = f"{sys.executable} -P -m homenode"
    line = example.replace("./prog", "echo hi").replace("homenode", ours)
    words = ["sh", "-c", line]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "t.hnt: " in done.stdout
    assert "hi" in done.stderr.splitlines()
    assert hn.Trace.open(tmp_path / "t.hnt").references > 1000

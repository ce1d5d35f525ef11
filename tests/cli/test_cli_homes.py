"""The command line on machines with a directory: hottest homes, pictures of pages, the report."""

import json
from pathlib import Path

import pytest

import homenode as hn
from support.command import Command
from support.traces import make_trace


@pytest.fixture
def shared(tmp_path: Path) -> hn.Trace:
    return make_trace(tmp_path / "shared.hnt", 4_000)


def test_the_homes_that_serve_most_fills_are_printed(homenode: Command, shared: hn.Trace) -> None:
    done = homenode("simulate", shared.path, "--machine", "dash-mesh", "--home", "fixed:node=2")
    assert done.code == 0
    head, _, hottest = done.out.partition("Homes that serve most fills")
    assert "fixed:node=2" in head
    (line,) = (line for line in hottest.splitlines() if "fixed:node=2" in line)
    assert line.split()[2:4] == ["2", "100%"]
    ordered = homenode("simulate", shared.path, "--machine", "dash-mesh", "--order", "trace")
    assert "Homes that serve most fills" in ordered.out
    assert "wait for" not in ordered.out


def test_several_nodes_have_no_hottest_homes(homenode: Command, shared: hn.Trace) -> None:
    done = homenode("simulate", shared.path, "--machine", "dash-mesh", "--scaling", "2,4")
    assert done.code == 0
    assert "Homes that serve most fills" not in done.out


def test_json_says_how_long_is_waited(homenode: Command, shared: hn.Trace) -> None:
    words = ("--machine", "dash-mesh", "--home", "fixed:node=0", "--json")
    (row,) = json.loads(homenode("simulate", shared.path, *words).out)
    assert row["mean_queue_cycles"] > 0
    assert row["max_queue"] > 1
    for part in ("network", "controller", "memory"):
        assert 0 < row[f"{part}_utilisation"] < 1
    (row,) = json.loads(homenode("simulate", shared.path, *words, "--order", "trace").out)
    assert row["mean_queue_cycles"] is row["max_queue"] is None


def test_pages_are_drawn(homenode: Command, shared: hn.Trace, tmp_path: Path) -> None:
    file = tmp_path / "pages.svg"
    words = ("--machine", "dash-mesh", "--home", "first-touch", "-o", file, "--title", "a & b")
    assert homenode("picture", shared.path, *words).code == 0
    assert ">a &amp; b</text>" in file.read_text()
    found = json.loads(homenode("picture", shared.path, "--home", "first-touch", "--json").out)
    (row,) = hn.simulate(shared, "dash-mesh", homes="first-touch")
    assert sum(sum(page["fills"]) for page in found["pages"]) == row["fills"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--home", "first-touch,round-robin"), "a picture is of one"),
        (("--home", "first-touch", "--slices", "3"), "--slices is for pictures without --machine"),
        (("--machine", "numa"), "numa"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    homenode: Command, shared: hn.Trace, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = homenode("picture", shared.path, "-o", tmp_path / "no.svg", *words)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "no.svg").exists()


def test_the_report_compares_the_given_homes(
    homenode: Command, shared: hn.Trace, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    words = (
        "--machine",
        "dash-mesh",
        "--protocol",
        "dash,lrc",
        "--home",
        "round-robin,first-touch",
    )
    done = homenode("report", shared.path, "--policy", "ace", *words, "-o", file, "--json")
    assert done.code == 0
    homes = [(row["protocol"], row["home"]) for row in json.loads(done.out)["homes"]]
    assert homes[1:3] == [("dash", "first-touch"), ("lrc", "round-robin")]
    text = file.read_text()
    assert "Which homes of pages are best?" in text
    assert text.count("<svg") >= 4
    assert "optimal-static</th>" not in text
    assert ">lrc</span>" in text


def test_homes_need_a_directory(homenode: Command, shared: hn.Trace, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = homenode("report", shared.path, "--home", "first-touch", "-o", file)
    assert done.code == 2
    assert "--home is for machines with a directory" in done.err
    plain = homenode("report", shared.path, "--policy", "ace", "-o", file)
    assert plain.code == 0
    assert "Which homes of pages" not in file.read_text()

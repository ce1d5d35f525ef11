"""Errors of usage: one line that says what and where, exit code 2, no files left behind."""

import os
import stat
from pathlib import Path

import pytest

import homenode as hn
from support.command import Command, Outcome


def refused(outcome: Outcome, *words: str) -> None:
    """Checks that a command printed one line with these words and ended with 2."""
    assert outcome.code == 2, outcome
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("homenode: error: ")
    assert "Traceback" not in outcome.err + outcome.out
    assert "internal error" not in outcome.err
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "there is no command 'nonsense'"),
        (["simulat"], "did you mean 'simulate'?"),
        (["--nonsense"], "--nonsense"),
        (["simulate"], "missing argument 'T.hnt'"),
        (["info"], "missing argument"),
        (["import", "x"], "missing option '-o'"),
        (["record", "-o", "t.hnt"], "missing argument"),
        (["list"], "missing argument"),
        (["list", "cows"], "'cows': expected one of machines, policies"),
        (["list", "machines", "--block-size", "100"], "block size 100 is not a power of two"),
        (["simulate", "t", "--processors", "0"], "'0': expected a whole number from 1"),
        (["simulate", "t", "--processors", "many"], "'many': expected a whole number"),
        (["simulate", "t", "--policy", "n=5"], "belongs to no policy"),
        (["simulate", "t", "--machine", "cc,,numa"], "empty machine"),
        (["simulate", "t", "--block-size", "1-2"], "block size 1 is not a power of two"),
        (["simulate", "t", "--private", "maybe"], "'maybe': expected one of local, exclude"),
        (["simulate", "t", "--threads", "-1"], "'-1': expected a whole number from 1"),
        (["record", "-o", "t.hnt", "--quantum", "0", "true"], "from 1 to 1000000000"),
        (
            ["record", "-o", "t.hnt", "--order", "chaos", "true"],
            "'chaos': expected one of deterministic",
        ),
        (["compact", "a.hnt", "b.hnt", "-o", "c.hnt"], "-o goes with one trace"),
        (["compact", "a.hnt", "--level", "23"], "'23': expected a whole number from 1 to 22"),
    ],
)
def test_usage(
    words: list[str], said: str, homenode: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(homenode(*words), said)
    assert list(tmp_path.iterdir()) == []


_READERS = {
    "info": (),
    "export": ("-o", "out.txt"),
    "repair": ("-o", "out.hnt"),
    "compact": ("-o", "out.hnt"),
    "simulate": ("--machine", "numa", "--policy", "ace"),
    "report": ("-o", "out.html", "--machine", "numa", "--policy", "ace"),
}


@pytest.mark.parametrize("command", _READERS)
@pytest.mark.parametrize(
    "content", [None, b"", b"\x89HNT", b"PK\x03\x04 not a trace", b"\0" * 4096, "folder"]
)
def test_what_is_no_trace(
    command: str,
    content: bytes | str | None,
    homenode: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if isinstance(content, bytes):
        (tmp_path / "bad.hnt").write_bytes(content)
    elif content == "folder":
        (tmp_path / "bad.hnt").mkdir()
    refused(homenode(command, "bad.hnt", *_READERS[command]), "bad.hnt")
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else ["bad.hnt"])


@pytest.mark.parametrize("command", [name for name in _READERS if name != "repair"])
def test_a_cut_off_trace(command: str, trace: hn.Trace, homenode: Command, tmp_path: Path) -> None:
    content = trace.path.read_bytes()
    for keep in (9, len(content) // 2, len(content) - 1):
        trace.path.write_bytes(content[:keep])
        words = [w if w[:3] != "out" else str(tmp_path / w) for w in _READERS[command]]
        refused(homenode(command, trace.path, *words), str(trace.path))
    assert [path.name for path in tmp_path.iterdir()] == ["small.hnt"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--machine", "cray"], "cray"),
        (["--machine", "nothing.toml"], "nothing.toml"),
        (["--machine", "prices:r=15"], "R"),
        (["--machine", "prices:r=15,R=16"], "R > 2r"),
        (["--machine", "prices:r=x,R=99"], "x"),
        (["--machine", "prices:q=1,r=15,R=99"], "q"),
        (["--policy", "lru"], "lru"),
        (["--policy", "delay:m=1"], "m"),
        (["--policy", "delay:n=many"], "many"),
        (["--machine", "numa", "--policy", "all-global"], "global"),
    ],
)
def test_machines_and_policies_that_cannot_be(
    options: list[str], said: str, trace: hn.Trace, homenode: Command
) -> None:
    refused(homenode("simulate", trace.path, *options), said)


@pytest.mark.parametrize(
    "command", ["import", "export", "simulate", "report", "list", "repair", "compact"]
)
@pytest.mark.parametrize("place", ["no/such/folder/out", "."])
def test_outputs_that_cannot_be_written(
    command: str,
    place: str,
    trace: hn.Trace,
    homenode: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("0 R 0x40 4\n")
    words = {
        "import": ["import", "in.txt", "-o", place],
        "export": ["export", str(trace.path), "--format", "parquet", "-o", place],
        "simulate": ["simulate", str(trace.path), "--policy", "ace", "--csv", place],
        "report": ["report", str(trace.path), "--policy", "ace", "-o", place],
        "list": ["list", "policies", "--parquet", place],
        "repair": ["repair", str(trace.path), "-o", place],
        "compact": ["compact", str(trace.path), "-o", place],
    }
    refused(homenode(*words[command]), place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "small.hnt"]


@pytest.mark.parametrize("command", ["import", "export", "simulate", "report", "repair", "compact"])
@pytest.mark.parametrize("link", [False, True])
def test_an_output_that_is_the_input_is_refused(
    command: str, link: bool, trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    source = trace.path
    if command == "import":
        source = tmp_path / "in.txt"
        source.write_text("0 R 0x40 4\n")
    place = source
    if link:
        place = tmp_path / "link"
        place.symlink_to(source)
    before = source.read_bytes()
    words = {
        "import": ["import", source, "--format", "text", "-o", place],
        "export": ["export", source, "--format", "text", "-o", place],
        "simulate": ["simulate", source, "--policy", "ace", "--csv", place],
        "report": ["report", source, "--policy", "ace", "-o", place],
        "repair": ["repair", source, "-o", place],
        "compact": ["compact", source, "-o", place],
    }
    refused(homenode(*words[command]), str(place), "also an input")
    assert source.read_bytes() == before
    assert place.is_symlink() == link


def test_a_program_is_not_overwritten_by_its_trace(homenode: Command, tmp_path: Path) -> None:
    program = tmp_path / "prog"
    program.write_bytes(b"precious")
    refused(homenode("record", "-o", program, "--", program), "also an input")
    assert program.read_bytes() == b"precious"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        ("list", "machines", "--csv", "/dev/full"),
        ("simulate", "TRACE", "--policy", "ace", "--parquet", "/dev/full"),
        ("report", "TRACE", "--policy", "ace", "-o", "/dev/full"),
        ("export", "TRACE", "--format", "parquet", "-o", "/dev/full"),
        ("export", "TRACE", "--format", "text", "-o", "/dev/full"),
    ],
)
def test_a_full_disk_has_a_name_and_a_remedy(
    words: tuple[str, ...], trace: hn.Trace, homenode: Command
) -> None:
    line = [str(trace.path) if word == "TRACE" else word for word in words]
    refused(homenode(*line), "/dev/full: no space left", "make room")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 W 0x1000 4\n1 X 0x1000 4\n", ":2: "),
        ("0 W zz 4\n", ":1: "),
        ("0 W 0x1000 4\n\n# note\n0 R\n", ":4: "),
        ("0 W 0x1000 65\n", ":1: "),
        ("T1 W 0x1000 4\n", ":1: "),
        ("", ":1: "),
    ],
)
def test_bad_lines_have_their_number(
    text: str, said: str, homenode: Command, program: Command, tmp_path: Path
) -> None:
    out = tmp_path / "t.hnt"
    refused(program("import", "-", "--format", "text", "-o", out, stdin=text), said)
    (tmp_path / "in.txt").write_text(text)
    refused(homenode("import", tmp_path / "in.txt", "-o", out), f"in.txt{said}")
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_formats_that_cannot_be(trace: hn.Trace, homenode: Command, tmp_path: Path) -> None:
    out = tmp_path / "t.hnt"
    refused(homenode("import", "-", "-o", out), "cannot tell the format of '-'")
    refused(homenode("import", trace.path, "-o", out), "cannot tell the format")
    refused(homenode("import", trace.path, "--format", "cobol", "-o", out), "cobol")
    refused(homenode("export", trace.path, "--format", "cobol", "-o", "-"), "cobol")
    refused(homenode("export", trace.path, "--format", "text", "-o", "-", "--json"), "--json")
    assert not out.exists()


def test_a_program_that_cannot_be_recorded(homenode: Command, tmp_path: Path) -> None:
    out = tmp_path / "t.hnt"
    refused(homenode("record", "-o", out, "--", tmp_path / "nothing"), "nothing")
    refused(homenode("record", "-o", out, "--", "/bin/true"), "homenode cc")
    assert list(tmp_path.iterdir()) == []


def test_devices_and_pipes_are_written_and_never_replaced(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("0 R 0x40 4\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert homenode("export", trace.path, "--format", "arrow", "-o", pipe).code == 0
    assert homenode("list", "policies", "--csv", pipe).code == 0
    assert os.read(reader, 6) == b"ARROW1"
    os.close(reader)
    for words in (
        ["import", tmp_path / "in.txt", "-o", pipe],
        ["repair", trace.path, "-o", pipe],
        ["compact", trace.path, "-o", pipe],
        ["record", "-o", pipe, "true"],
    ):
        refused(homenode(*words), "a device or a pipe", str(pipe))
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "pipe", "small.hnt"]


def test_a_full_disk_is_an_error(trace: hn.Trace, program: Command) -> None:
    refused(program("export", trace.path, "--format", "text", "-o", "/dev/full"), "no space left")
    refused(program("simulate", trace.path, "--csv", "/dev/full"), "no space left")
    refused(program("report", trace.path, "--block-size", "64", "-o", "/dev/full"), "no space left")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_name_that_is_no_text_is_no_fault(
    trace: hn.Trace, program: Command, tmp_path: Path
) -> None:
    strange = tmp_path / os.fsdecode(b"\xfe.hnt")
    refused(program("info", strange), ".hnt")
    trace.path.rename(strange)
    assert program("simulate", strange, "--block-size", "64").code == 0

"""Results in files: `-o`, its formats, and what happens when a file cannot be written."""

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from test_cli_errors import refused

import homenode as hn
from homenode.cli import app
from homenode.errors import ConfigError
from homenode.results import writers
from support.command import Command, Outcome
from support.traces import make_named_trace, make_trace

COMMANDS = {
    "advise": "advise T --machine numa --block-size 4K",
    "check-protocol": "check-protocol mesi",
    "info": "info T",
    "list": "list policies",
    "optimal": "optimal T --machine numa --block-size 4K",
    "pmap": "pmap T",
    "run": "run -- PROGRAM",
    "sensitivity": "sensitivity T --reinterleave 2 --machine numa",
    "sharing": "sharing T --machine cc --block-size 64",
    "simulate": "simulate T --policy ace,optimal --block-size 64",
    "tlb": "tlb T --tlb ace --page-size 4K",
}
"""Every command that prints results."""


def _has_results(name: str) -> bool:
    command = app.cli.get_command(click.Context(app.cli), name)
    return {"output", "form", "parquet"} <= {option.name for option in command.params}


def test_every_command_with_results_has_a_case() -> None:
    assert {name for name in app.COMMANDS if _has_results(name)} == set(COMMANDS)


def test_every_writer_is_listed() -> None:
    folder = Path(writers.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "content"}
    assert files == {writer.write.__module__.rsplit(".", 1)[-1] for writer in writers.TABLE}


def test_the_documentation_has_every_format() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    for writer in writers.TABLE:
        suffixes = ", ".join(f"`.{suffix}`" for suffix in writer.suffixes)
        assert f"| `{writer.name}` | {suffixes} | {writer.summary}" in text


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"run"}))
def test_a_file_has_what_the_command_prints(
    name: str, trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    line = [str(trace.path) if word == "T" else word for word in COMMANDS[name].split()]
    files = [tmp_path / f"r.{suffix}" for suffix in ("json", "csv", "parquet", "txt")]
    written = homenode(*line, *(word for file in files for word in ("-o", file)))
    assert (written.code, written.out) == (0, "")
    assert files[0].read_text() == homenode(*line, "--json").out
    assert files[1].read_text() == homenode(*line, "--csv", "-").out
    assert files[3].read_text() == homenode(*line).out
    rows = list(csv.DictReader(io.StringIO(files[1].read_text())))
    assert rows
    table = pq.read_table(files[2])
    assert (table.num_rows, table.column_names) == (len(rows), list(rows[0]))
    assert sorted(path.name for path in tmp_path.iterdir() if ".partial" in path.name) == []


def test_a_result_writes_itself(trace: hn.Trace, tmp_path: Path) -> None:
    result = hn.simulate(trace, "numa", "ace,optimal", 64)
    for suffix in ("json", "csv", "pq", "TXT"):
        result.write(tmp_path / f"r.{suffix}")
    assert json.loads((tmp_path / "r.json").read_text()) == result.rows
    assert pq.read_table(tmp_path / "r.pq").to_pydict() == result.columns()
    heading, *lines = (tmp_path / "r.TXT").read_text().splitlines()
    assert heading.split() == list(result.columns())
    assert [line.split()[2] for line in lines] == ["ace", "optimal"]
    result.write(tmp_path / "no-suffix", "csv")
    assert (tmp_path / "no-suffix").read_bytes() == (tmp_path / "r.csv").read_bytes()
    with pytest.raises(ConfigError, match=r"no format of results has the suffix \.xls"):
        result.write(tmp_path / "r.xls")
    with pytest.raises(ConfigError, match="choose one of json, csv, parquet, txt"):
        result.write(tmp_path / "r", "xls")
    with pytest.raises(FileNotFoundError):
        result.write(tmp_path / "no" / "r.csv")


def test_a_file_is_what_json_prints_where_that_is_more_than_rows(
    trace: hn.Trace, tmp_path: Path
) -> None:
    result = hn.sharing(trace, "cc", 64)
    result.write(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == json.loads(json.dumps(result.to_dict()))


def test_tables_have_the_waits_of_machines_with_a_clock(trace: hn.Trace) -> None:
    result = hn.sharing(trace, ["spr-2s-lines", "cc"], 64)
    rows = result.flat_rows()
    objects = [row for row in rows if row["machine"] == "spr-2s-lines"]
    assert [row["label"] for row in objects] == [row["label"] for row in result.lines[0].rows]
    assert len(rows) == len(objects) + len(result.rows)
    alone = hn.sharing(trace, "spr-2s-lines")
    assert [row["label"] for row in alone.flat_rows()] == [row["label"] for row in objects]


def test_a_table_without_rows_has_its_heading(homenode: Command, tmp_path: Path) -> None:
    private = make_trace(tmp_path / "private.hnt", 20, threads=1)
    done = homenode("advise", private.path, "-o", "-", "--format", "csv")
    assert done.out.startswith("machine,policy,block_size,rank,kind,object,")
    assert len(done.out.splitlines()) == 1


@pytest.mark.parametrize("machine", ["spr-2s-lines", "dash-mesh"])
def test_a_table_of_no_waits_has_the_heading_of_others(
    homenode: Command, trace: hn.Trace, tmp_path: Path, machine: str
) -> None:
    none = make_trace(tmp_path / "none.hnt", 0, threads=1)
    words = ("--machine", machine, "-o", "-", "--format", "csv")
    empty, full = (homenode("sharing", one.path, *words).out for one in (none, trace))
    assert empty.splitlines() == full.splitlines()[:1]
    waits = hn.lines(none, machine=machine)
    assert list(waits.columns()) == list(hn.lines(trace, machine=machine).columns())


def test_a_row_of_info_counts_long_lists(homenode: Command, tmp_path: Path) -> None:
    ranges = [{"kind": "static", "start": 0x1000, "size": 64, "name": "a"}]
    named = make_named_trace(tmp_path / "named.hnt", [0x1000], {"ranges": ranges})
    done = homenode("info", named.path, "-o", "-", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.out))
    assert int(row["metadata_ranges"]) == len(named.metadata["ranges"]) > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "r.xls"], "'r.xls': no format of results has the suffix .xls; end the name with"),
        (["-o", "r"], "'r': it has no suffix; end the name with .json, .csv, .parquet or .txt, or"),
        (["-o", ""], "it has no suffix"),
        (["-o", "no/r.csv"], "no/r.csv: no such file or directory; check the name"),
        (["-o", "d.csv"], "d.csv: is a directory; name a file"),
        (["-o", "r.csv", "-o", "./r.csv"], "two outputs have this name"),
        (["-o", "r.csv", "--csv", "r.csv"], "two outputs have this name"),
        (["--format", "csv"], "--format is the format of -o"),
        (["-o", "r.csv", "--format", "xls"], "'xls': expected one of json"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_any_work(
    options: list[str],
    said: str,
    homenode: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").mkdir()
    refused(homenode("list", "policies", *options), said)
    # The trace is missing: the output is checked first.
    refused(homenode("simulate", "missing.hnt", *options), said)
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_a_trace_or_page_is_chosen_by_the_suffix_too(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    page, table = tmp_path / "s.html", tmp_path / "s.csv"
    point = ("--machine", "cc", "--block-size", 64)
    assert homenode("sharing", trace.path, *point, "-o", page, "-o", table).code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert table.read_text().startswith("trace,processors,")
    refused(homenode("sharing", trace.path, "-o", page, "-o", tmp_path / "u.html"), "only one")
    refused(homenode("sharing", trace.path, "-o", page, "--html", page), "two outputs")
    refused(homenode("advise", trace.path, "-o", tmp_path / "u.xls"), ".txt or .hnt, or give")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", ["json", "csv", "parquet", "txt"])
def test_a_full_device_is_an_error(form: str, homenode: Command) -> None:
    done = homenode("list", "machines", "-o", "/dev/full", "--format", form)
    refused(done, "/dev/full: no space left", "make room")


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "txt"])
def test_a_full_disk_leaves_what_was_there(form: str, tmp_path: Path) -> None:
    target = tmp_path / f"r.{form}"
    target.write_text("precious")

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    line = [sys.executable, "-B", "-m", "homenode", "list", "machines", "-o", str(target)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, preexec_fn=small_files)
    refused(Outcome(done.returncode, done.stdout, done.stderr), str(target))
    assert target.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "txt"])
def test_a_pipe_is_written_to(form: str, homenode: Command, tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert homenode("list", "formats", "-o", pipe, "--format", form).code == 0
    found = os.read(reader, 1 << 16)
    os.close(reader)
    assert homenode("list", "formats", "-o", file, "--format", form).code == 0
    assert found == file.read_bytes()


@pytest.mark.parametrize("form", ["json", "csv", "txt"])
def test_standard_output_is_written_to(form: str, homenode: Command) -> None:
    printed = homenode("list", "formats", "-o", "-", "--format", form).out
    usual = {"json": ["--json"], "csv": ["--csv", "-"], "txt": []}[form]
    assert printed == homenode("list", "formats", *usual).out
    assert homenode("list", "formats", "-o", "-").out == homenode("list", "formats").out

"""Every command: its help, its output for people and for programs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq
import pytest

import homenode as hn
from homenode.catalogue import KINDS
from homenode.cli import app
from homenode.options.specs import plain_number
from support.command import Command

_HERE = [name for name in app.COMMANDS if name not in app.STUDIES]
_OWN_HELP = [name for name in _HERE if name not in {"cc", "c++", "fortran"}]
_GROUPS = frozenset({"transform", "synthetic"})
"""Commands whose subcommands have `--json`."""
_FIELDS = [
    "trace",
    "machine",
    "policy",
    "block_size",
    "processors",
    "references",
    "accesses",
    "counts",
    "cost",
    "total_cost",
    "mcpr",
]


def test_the_overview_names_every_command(homenode: Command) -> None:
    shown = homenode("--help")
    assert shown.code == 0
    assert all(f"\n  {name} " in shown.out for name in app.COMMANDS)


@pytest.mark.parametrize("name", _OWN_HELP)
def test_every_command_has_help_with_examples(name: str, homenode: Command) -> None:
    shown = homenode(name, "--help")
    assert shown.code == 0
    assert "Examples:\n    homenode" in shown.out or "Examples:\n    printf" in shown.out
    assert f"homenode {name}" in shown.out.split("Examples:")[1]


@pytest.mark.parametrize("name", [n for n in _OWN_HELP if n not in _GROUPS])
def test_every_command_speaks_json(name: str, homenode: Command) -> None:
    assert "--json" in homenode(name, "--help").out


@pytest.mark.parametrize(("alias", "name"), app.ALIASES.items())
def test_an_alias_works_and_is_not_listed(alias: str, name: str, homenode: Command) -> None:
    assert homenode(alias, "--help") == homenode(name, "--help")
    assert f"\n  {alias} " not in homenode("--help").out


def test_every_command_file_is_listed() -> None:
    folder = Path(app.__file__).parent
    shared = {"__init__", "app", "command", "failure", "options", "output", "progress", "streams"}
    shared |= {
        "bus_table",
        "coherence_table",
        "directory_table",
        "engine_tables",
        "explain_text",
        "interleavings_table",
        "mix_table",
        "outputs",
        "picture_pages",
        "realign_table",
        "record_check",
        "start",
        "tables",
        "totals",
    }
    files = {path.stem for path in folder.glob("*.py")} - shared
    assert files == {app.COMMANDS[name][0] for name in _HERE}


@pytest.mark.parametrize("name", _HERE)
def test_every_listed_command_exists(name: str) -> None:
    command = app.cli.get_command(click.Context(app.cli), name)
    assert command is not None
    assert command.name == name


def test_the_version_is_the_packages(homenode: Command) -> None:
    shown = homenode("--version")
    assert shown.out == f"homenode {hn.__version__}\n"
    assert shown.code == 0


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in {"workloads", "studies"}])
def test_every_kind_can_be_listed(kind: str, homenode: Command) -> None:
    rows = json.loads(homenode("list", kind, "--json").out)
    assert rows == json.loads(json.dumps(hn.table(kind)))
    shown = homenode("list", kind)
    assert shown.code == 0
    assert all(row["name"] in shown.out for row in rows)
    assert rows or shown.out == f"This version has no {kind}.\n"


@pytest.mark.parametrize("way", ["import", "export"])
def test_the_help_names_every_format(way: str, homenode: Command) -> None:
    names = ", ".join(row["name"] for row in hn.table("formats") if row[way])
    assert f"One of {names} (homenode list formats)." in " ".join(
        homenode(way, "--help").out.split()
    )


def test_machines_can_be_listed_with_prices(homenode: Command) -> None:
    rows = json.loads(homenode("list", "machines", "--json", "--block-size", "64,4K").out)
    found = [(row["name"], row["block_size"]) for row in rows][:3]
    assert found == [("ace", 64), ("ace", 4096), ("butterfly", 64)]
    shown = homenode("list", "machines", "--block-size", "64")
    assert shown.code == 0
    assert "184" in shown.out


# Bolosky, thesis, table 6.3: r and R of the five base machine models at their own block sizes.
@pytest.mark.parametrize(
    ("machine", "block_size", "reference", "move"),
    [
        ("cc", 64, None, 184),
        ("cc+", 64, 102, 184),
        ("numa", 4096, 102, 2323),
        ("dsm", 4096, None, 2323),
        ("dsm+", 4096, 250, 2323),
    ],
)
def test_base_machines_have_the_prices_of_the_thesis(
    machine: str, block_size: int, reference: float | None, move: float, homenode: Command
) -> None:
    shown = homenode("list", "machines", "--json", "--block-size", block_size)
    price = next(r for r in json.loads(shown.out) if r["name"] == machine)
    assert (price["r"], price["R"]) == (reference, move)


def test_a_list_can_be_a_file(homenode: Command, tmp_path: Path) -> None:
    shown = homenode("list", "machines", "--block-size", "64-256", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert len(rows) == 3 * len(hn.table("machines"))
    assert {"name", "summary", "block_size", "r", "R"} <= set(rows[0])
    assert homenode("list", "policies", "--parquet", tmp_path / "p.parquet").code == 0
    assert pq.read_table(tmp_path / "p.parquet")["name"].to_pylist()[0] == "optimal"


def test_text_goes_in_and_a_simulation_comes_out(
    program: Command, homenode: Command, tmp_path: Path
) -> None:
    path = tmp_path / "t.hnt"
    text = "0 W 0x1000 4\n1 R 0x1000 4\n"
    made = program("import", "-", "--format", "text", "-o", path, stdin=text)
    assert made.code == 0, made.err
    assert "2 references by 2 threads" in made.out
    shown = homenode(
        *("simulate", path, "--machine", "prices:r=15,R=59"),
        *("--policy", "optimal,ace", "--block-size", "64", "--json"),
    )
    rows = json.loads(shown.out)
    assert [list(row) for row in rows] == [_FIELDS, _FIELDS]
    assert [row["policy"] for row in rows] == ["optimal", "ace"]
    # The optimum reads remotely once (1 + 15); ACE replicates the block (1 + 59 + 1).
    assert [row["total_cost"] for row in rows] == [16, 61]
    assert rows[0]["counts"]["remote_reads"] == 1
    assert rows[1]["counts"]["replications"] == 1


def test_simulations_print_tables(trace: hn.Trace, homenode: Command) -> None:
    one = homenode("simulate", trace.path, "--machine", "numa", "--policy", "optimal,ace")
    assert one.code == 0, one.err
    # Titles are as wide as their tables.
    assert "on numa, 4 processors, 4 KB blocks" in " ".join(one.out.split())
    assert "small.hnt: 4,000 references" in one.out
    assert "total cost" in one.out
    assert "1.00x" in one.out
    many = homenode(
        *("simulate", trace.path, "--machine", "cc,cc+", "--policy", "optimal,migrate"),
        *("--block-size", "64-256"),
    )
    assert many.out.count("64 B") == 4, "two machines: the mean and the total cost"
    assert "256 B" in many.out


def test_pages_of_today_are_simulated_behind_caches(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    shown = homenode("simulate", trace.path, "--policy", "optimal")
    found = json.loads(homenode("simulate", trace.path, "--policy", "optimal", "--json").out)
    row = found[0]
    filtered = row["cache_filter"]
    assert filtered["references"] == trace.references > filtered["let_through"] > 0
    assert f"{plain_number(filtered['let_through'])} (" in shown.out
    assert "64M:16:64 in front of each processor" in shown.out
    assert "total ns" in shown.out
    assert row["total_ns"] == pytest.approx(111 * row["total_cost"])
    out = tmp_path / "misses.hnt"
    made = homenode(
        *("transform", "filter", trace.path, "-o", out, "--cache", "64M:16:64"),
        *("--processors", "2"),
    )
    assert made.code == 0, made.err
    assert "first writes" in made.out
    again = json.loads(homenode("simulate", out, "--policy", "optimal", "--json").out)
    own = {"trace", "cache_filter"}
    same = {name: value for name, value in row.items() if name not in own}
    assert {name: value for name, value in again[0].items() if name not in own} == same
    every = homenode("simulate", trace.path, "--policy", "optimal", "--filter", "none")
    assert "small.hnt: 4,000 references\n" in every.out
    table = homenode(
        "optimal",
        trace.path,
        "--machine",
        "spr-2s,numa",
        "--processors",
        "2",
        "--filter",
        "1K:2:64",
    )
    assert table.code == 0, table.err
    assert " ns " in table.out
    assert "1K:2:64" in table.out
    csv = homenode("simulate", trace.path, "--policy", "optimal", "--csv", "-").out
    assert "total_ns" in csv.splitlines()[0]


def test_numbers_are_right_aligned_and_whole(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("simulate", trace.path, "--block-size", "64-1M", "--machine", "numa")
    lines = [line for line in shown.out.splitlines() if line.startswith(" random ")]
    rows = json.loads(
        homenode("simulate", trace.path, "--block-size", "64-1M", "--machine", "numa", "--json").out
    )
    random = [row for row in rows if row["policy"] == "random"]
    values = [plain_number(row[what]) for what in ("mcpr", "total_cost") for row in random]
    assert [word for line in lines for word in line.split()[1:]] == values
    assert all(line == line.rstrip() + " " for line in lines)


def test_an_empty_trace_has_no_mean(homenode: Command, tmp_path: Path) -> None:
    empty = hn.Trace.from_numpy(thread=[], kind=[], address=[], path=tmp_path / "empty.hnt")
    shown = homenode("simulate", empty.path, "--policy", "optimal,ace")
    assert shown.code == 0
    assert "2 processors," in shown.out, "the machine's"
    assert "∞" not in shown.out
    refused = homenode("report", empty.path, "-o", tmp_path / "r.html")
    assert (refused.code, "no data references" in refused.err) == (2, True)


def test_infinite_costs_are_explained(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("simulate", trace.path, "--machine", "dram-cxl", "--processors", "2")
    assert "∞" in shown.out
    assert shown.err.count("which those of dram-cxl cannot reach") == 1
    finite = homenode("simulate", trace.path, "--machine", "dram-cxl", "--policy", "optimal")
    assert "cannot reach" not in finite.err


def test_simulations_are_files_for_programs(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    options = ("--machine", "numa", "--policy", "optimal,ace", "--block-size", "64,128")
    shown = homenode(
        *("simulate", trace.path, *options),
        *("--csv", tmp_path / "r.csv", "--parquet", tmp_path / "r.parquet", "--json"),
    )
    rows = json.loads(shown.out)
    table = pq.read_table(tmp_path / "r.parquet")
    assert table["mcpr"].to_pylist() == [row["mcpr"] for row in rows]
    with (tmp_path / "r.csv").open() as file:
        read: list[dict[str, Any]] = list(csv.DictReader(file))
    assert [int(row["block_size"]) for row in read] == [64, 128, 64, 128]
    assert [float(row["mcpr"]) for row in read] == [row["mcpr"] for row in rows]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "r.parquet", "small.hnt"]


def test_options_may_be_repeated(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode(
        *("simulate", trace.path, "--machine", "cc", "--machine", "numa"),
        *("--policy", "ace", "--policy", "ace,migrate", "--block-size", "64", "--json"),
    )
    found = [(row["machine"], row["policy"]) for row in json.loads(shown.out)]
    assert found == [("cc", "ace"), ("cc", "migrate"), ("numa", "ace"), ("numa", "migrate")]


def test_info_says_what_a_trace_holds(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("info", trace.path)
    assert "4,000" in shown.out
    assert trace.checksum in shown.out
    assert json.loads(homenode("info", trace.path, "--json").out) == trace.info


def test_info_gives_shares_of_references_and_fetches(homenode: Command, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0 I 0x10 4\n0 R 0x100 4\n0 I 0x14 4\n0 W 0x100 4\n")
    homenode("import", tmp_path / "t.txt", "-o", tmp_path / "t.hnt")
    shown = " ".join(homenode("info", tmp_path / "t.hnt").out.split())
    assert "references 2 " in shown
    assert "reads 1 (25.0 %) writes 1 (25.0 %) fetches 2 (50.0 %)" in shown


def test_export_and_import_are_inverse(trace: hn.Trace, homenode: Command, tmp_path: Path) -> None:
    for name in ("t.txt", "t.parquet", "t.arrow"):
        made = homenode("export", trace.path, "-o", tmp_path / name)
        assert made.out == f"{tmp_path / name}: 4,000 references\n"
        back = homenode("import", tmp_path / name, "-o", tmp_path / "back.hnt", "--json")
        assert json.loads(back.out)["references"] == 4000
        assert hn.Trace.open(tmp_path / "back.hnt").to_arrow() == trace.to_arrow()


@pytest.mark.parametrize("form", [row["name"] for row in hn.table("formats") if row["export"]])
def test_export_says_which_events_the_format_lacks(
    homenode: Command, tmp_path: Path, form: str
) -> None:
    (tmp_path / "t.txt").write_text("@ 0 init-done\n0 R 0x100 4\n@ 0 phase 1\n0 W 0x100 4\n")
    homenode("import", tmp_path / "t.txt", "-o", tmp_path / "t.hnt")
    words = ("export", tmp_path / "t.hnt", "--format", form, "-o", tmp_path / "u")
    shown, as_json = homenode(*words), homenode(*words, "--json")
    back = homenode("import", tmp_path / "u", "--format", form, "-o", tmp_path / "back.hnt")
    assert back.code == 0, back.err
    left_out = 2 - hn.Trace.open(tmp_path / "back.hnt").info["events"]
    assert json.loads(as_json.out)["events_left_out"] == left_out
    assert ("note: 2 events" in shown.err) == (left_out == 2)


def test_repair_rescues_a_cut_off_trace(trace: hn.Trace, homenode: Command, tmp_path: Path) -> None:
    cut = tmp_path / "cut.hnt.partial"
    cut.write_bytes(trace.path.read_bytes()[:-40])
    assert homenode("info", cut).code == 2
    shown = homenode("repair", cut, "--json")
    assert shown.code == 0, shown.err
    found = json.loads(shown.out)
    assert (found["output"], found["references"]) == (str(tmp_path / "cut.hnt"), 4000)
    assert hn.Trace.open(tmp_path / "cut.hnt").to_arrow() == trace.to_arrow()


@pytest.mark.parametrize("name", ["cc", "c++", "fortran"])
def test_compilers_get_every_argument_untouched(
    name: str, homenode: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, list[str]]] = []

    def compile_(language: str, argv: list[str]) -> int:
        seen.append((language, argv))
        return 7

    monkeypatch.setattr("homenode.capture.compilers.compile", compile_)
    words = ["--help", "-o", "a b", "--", "-Wl,x=y", "--version", "-"]
    assert homenode(name, *words).code == 7
    assert seen == [("c" if name == "cc" else name, words)]


def test_a_report_is_one_file(trace: hn.Trace, homenode: Command, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    options = ("--machine", "numa", "--policy", "optimal,ace", "--block-size", "64-256")
    shown = homenode("report", trace.path, "-o", page, *options)
    assert shown.code == 0, shown.err
    assert str(page) in shown.out
    assert page.read_text().startswith("<!doctype html>")

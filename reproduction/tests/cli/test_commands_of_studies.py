"""The commands of this package: found by `homenode`, with help, JSON and clear errors."""

import json
import shutil
from pathlib import Path

import pytest

import homenode as hn
import homenode_studies
from homenode.cli import app
from support.command import Command

_COMMANDS = sorted(app.STUDIES)
_COMPILES = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler on this machine")


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help_with_examples(name: str, homenode: Command) -> None:
    shown = homenode(name, "--help")
    assert shown.code == 0
    assert "Examples:\n    homenode" in shown.out
    assert f"homenode {name}" in shown.out.split("Examples:")[1]
    assert "--json" in shown.out or name == "workloads"


def test_every_command_file_is_listed() -> None:
    folder = Path(homenode_studies.__file__).parent / "cli"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "ecommerce"}
    assert files == {app.COMMANDS[name][0] for name in _COMMANDS}


@pytest.mark.parametrize("kind", ["workloads", "studies"])
def test_what_the_package_has_is_listed(kind: str, homenode: Command) -> None:
    rows = json.loads(homenode("list", kind, "--json").out)
    assert rows == json.loads(json.dumps(hn.table(kind)))
    shown = homenode("list", kind)
    assert shown.code == 0
    assert all(row["name"] in shown.out for row in rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["workloads", "nonsense"], "nonsense"),
        (["workloads", "build", "nonsense"], "there is no workload 'nonsense'"),
        (["alphabeta", "--times", "/dev/zero"], "at most 16,777,216 characters"),
        (["alphabeta", "--global", "\u0663"], "'--global'"),
        (["alphabeta", "--global", "\u0663.5"], "'--global'"),
        (["alphabeta", "--published", "--ratio", "\u0663"], "'--ratio'"),
        (["alphabeta", "--published", "--ratio", "\u0663.5"], "'--ratio'"),
    ],
)
def test_usage(
    words: list[str], said: str, homenode: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = homenode(*words)
    assert shown.code == 2
    (line,) = shown.err.splitlines()
    assert line.startswith("homenode: error: ")
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_the_earlier_name_of_the_workload_of_servers(homenode: Command) -> None:
    listed = homenode("workload", "ecommerce", "--list", "--json")
    assert listed.code == 0
    assert listed == homenode("workloads", "ecommerce", "--list", "--json")


@_COMPILES
@pytest.mark.timeout(1200)
def test_workloads_are_built_and_recorded(program: Command, tmp_path: Path) -> None:
    made = program("workloads", "record", "false-sharing", "--quick", "-o", tmp_path, "--json")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    assert found[0]["references"] == hn.Trace.open(found[0]["trace"]).references
    result = hn.simulate(found[0]["trace"], "numa", "optimal,migrate", [4, 64])
    costs = [row["mcpr"] for row in result]
    assert costs[0] < costs[1]


@_COMPILES
@pytest.mark.timeout(1200)
def test_native_programs_are_built_and_cannot_be_recorded(program: Command, tmp_path: Path) -> None:
    made = program("workloads", "build", "gauss", "--native", "-o", tmp_path, "--json")
    assert json.loads(made.out) == [{"name": "gauss", "program": str(tmp_path / "gauss")}]
    refused = program("record", "-o", tmp_path / "t.hnt", tmp_path / "gauss", "--quick")
    assert refused.code == 2
    assert "homenode cc" in refused.err
    assert not (tmp_path / "t.hnt").exists()

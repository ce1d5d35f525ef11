"""Without homenode-studies, commands that need it say how to install it."""

import sys

import pytest

import homenode as hn
from homenode.cli import app
from support.command import Command

_REMEDY = (
    "study, workloads and alphabeta are in a separate package: in a clone of homenode, "
    "pip install ./reproduction"
)


class _Absent:
    """A module finder, before all others, that finds no homenode_studies."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "homenode_studies":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture(autouse=True)
def _missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "homenode_studies"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Absent, *sys.meta_path])


@pytest.mark.parametrize(
    "words",
    [
        *([name, "--help"] for name in sorted(app.STUDIES)),
        ["study", "markatos", "--quick"],
        ["workload", "list"],
        ["list", "studies"],
        ["list", "workloads", "--json"],
    ],
)
def test_a_command_that_needs_it(words: list[str], homenode: Command) -> None:
    shown = homenode(*words)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == f"homenode: error: {_REMEDY}\n"


@pytest.mark.parametrize("kind", ["workloads", "studies"])
def test_a_table_that_needs_it(kind: str) -> None:
    with pytest.raises(hn.ConfigError, match="in a clone of homenode"):
        hn.table(kind)


def test_the_overview_needs_it_not(homenode: Command) -> None:
    shown = homenode("--help")
    assert shown.code == 0
    assert all(f"\n  {name} " in shown.out for name in app.STUDIES)

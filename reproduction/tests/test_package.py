"""The package as a whole: its version, its documentation, and the programs that it shares."""

import doctest
import importlib
import pkgutil
import tomllib
from pathlib import Path

import pytest

import homenode as hn
import homenode_studies
from homenode import demo
from homenode_studies import workloads

_ROOT = Path(__file__).parents[2]
_MODULES = [
    module.name for module in pkgutil.walk_packages(homenode_studies.__path__, "homenode_studies.")
]
_ROOMS = {"alphabeta", "studies", "workloads"}


def test_the_version_is_that_of_homenode() -> None:
    with (_ROOT / "reproduction" / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert project["version"] == hn.__version__
    assert project["dependencies"] == [f"homenode=={hn.__version__}"]


@pytest.mark.parametrize("name", ["homenode_studies", *_MODULES])
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted(set(homenode_studies.__all__) - _ROOMS))
def test_every_public_name_has_its_place_in_the_reference(name: str) -> None:
    assert getattr(homenode_studies, name).__name__ == name
    lines = (_ROOT / "docs" / "python.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith(".. auto") and line.endswith(f".{name}")]


def test_every_program_of_the_demonstration_is_a_workload() -> None:
    for program in demo.PROGRAMS:
        assert workloads.find(program.name).path.parent == demo.programs.FOLDER


def test_no_source_exists_twice() -> None:
    here = {path.name for path in workloads.FOLDER.glob("*.[ch]")}
    assert not here & {path.name for path in demo.programs.FOLDER.glob("*.[ch]")}

"""The documentation covers everything public."""

from pathlib import Path

import pytest

import homenode as hn
from homenode.cli.app import COMMANDS

_ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", sorted(hn.__all__))
def test_every_public_name_has_its_place_in_the_reference(name: str) -> None:
    lines = (_ROOT / "docs" / "python.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith(".. auto") and line.endswith(f".{name}")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_somewhere(name: str) -> None:
    pages = [_ROOT / "README.md", *(_ROOT / "docs").glob("*.md")]
    assert any(f"homenode {name}" in page.read_text(encoding="utf-8") for page in pages)

"""Names from before features were named like their commands: they still work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import homenode as hn
from homenode.cli import app
from support.command import Command

_REFERENCE = Path(__file__).parent.parent / "docs" / "python.md"


@pytest.mark.parametrize(("earlier", "now"), hn.ALIASES.items())
def test_an_earlier_name_is_the_present_one(earlier: str, now: str) -> None:
    assert getattr(hn, earlier) is getattr(hn, now)
    assert earlier not in dir(hn)
    assert now in hn.__all__


@pytest.mark.parametrize(("earlier", "now"), app.ALIASES.items())
def test_an_earlier_command_runs_the_present_one(earlier: str, now: str, homenode: Command) -> None:
    assert homenode(earlier, "--help") == homenode(now, "--help")
    assert f"\n  {earlier} " not in homenode("--help").out


def test_the_reference_names_every_alias() -> None:
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", _REFERENCE.read_text("utf-8"), re.MULTILINE)
    functions = {f"homenode.{old}": f"homenode.{new}" for old, new in hn.ALIASES.items()}
    commands = {f"homenode {old}": f"homenode {new}" for old, new in app.ALIASES.items()}
    assert dict(rows) == functions | commands

"""Fixtures for tests of `homenode explain`: its output, or its error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Command
    from support.command import Printed


@pytest.fixture
def shown(homenode: Command) -> Printed:
    """The output of `homenode explain`."""

    def run(*words: str) -> str:
        found = homenode("explain", *words)
        assert found.code == 0, found.err
        return found.out

    return run


@pytest.fixture
def refused(homenode: Command) -> Printed:
    """The error message of `homenode explain`."""

    def run(*words: str) -> str:
        found = homenode("explain", *words)
        assert found.code == 2, words
        assert "Traceback" not in found.err
        return found.err

    return run

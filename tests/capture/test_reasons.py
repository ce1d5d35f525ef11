"""Reasons why recordings with hooks and under emulation differ, from counts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from homenode.capture import reasons
from homenode.capture.counting import COLUMNS, OWN, PARTS, Counts, Key

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST, _SECOND = Key("heap", "a.c:1 (f)"), Key("heap", "a.c:2 (f)")


def _parts(read: int, written: int) -> NDArray[np.int64]:
    parts = np.zeros((PARTS, COLUMNS), np.int64)
    parts[OWN] = read, written, read + written
    return parts


def _why(key: Key, hooks: Counts, emulated: Counts) -> str:
    whole = reasons.runs(hooks, emulated)
    return reasons.reason(key, hooks.objects[key], emulated.objects[key], whole)


@pytest.mark.parametrize(("second", "why"), [(400, "another block was at"), (900, "unknown")])
def test_blocks_that_exchanged_addresses_agree_together(second: int, why: str) -> None:
    hooks = Counts({_FIRST: _parts(1000, 0), _SECOND: _parts(200, 0)})
    emulated = Counts({_FIRST: _parts(800, 0), _SECOND: _parts(second, 0)})
    assert _why(_FIRST, hooks, emulated).startswith(why)


@pytest.mark.parametrize(("seen", "why"), [(9, "literals and tables"), (90, "unknown")])
def test_a_few_reads_do_not_hide_that_literals_are_left_out(seen: int, why: str) -> None:
    key = Key("section", ".rodata")
    hooks, emulated = (Counts({key: _parts(read, 0)}) for read in (seen, 1000))
    assert _why(key, hooks, emulated).startswith(why)

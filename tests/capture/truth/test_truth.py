"""Hooks in assembly record the references that a program's source says."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus import Program, Variant, corpus, judge, measure

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="hooks are inserted into x86-64 assembly"
)


@pytest.fixture(autouse=True)
def unchanged(tmp_path: Path) -> Iterator[None]:
    """The corpus sets variables for compilers; gfortran looks for modules where it is."""
    before, folder = dict(os.environ), Path.cwd()
    os.chdir(tmp_path)
    yield
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(before)


def _cases() -> Iterator[object]:
    """Each program with one compiler, which take turns, at the level that does most to it.

    All variants, also under emulation: ``make test-truth``.
    """
    for number, program in enumerate(corpus()):
        families = list(dict.fromkeys(each.family for each in program.variants))
        family = families[number % len(families)]
        variant = [each for each in program.variants if each.family == family][-1]
        yield pytest.param(program, variant, id=f"{program.name}-{family}")


@pytest.mark.parametrize(("program", "variant"), list(_cases()))
def test_the_references_of_a_program_are_those_of_its_source(
    program: Program, variant: Variant, tmp_path: Path
) -> None:
    if shutil.which(variant.family) is None:
        pytest.skip(f"{variant.family} is not installed")
    measured = measure(program, variant, "assembly", tmp_path)
    assert measured.failure == ""
    for name, right in program.right(variant, "assembly").items():
        found = measured.found[name]
        assert judge(right, found) in {"right", "near"}, f"{name}: {right} is right, not {found}"

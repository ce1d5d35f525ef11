"""gcc warns of nothing in the C sources that the package compiles on the user's machine."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from homenode.capture import build, plugin

_FLAGS = "-std=gnu11 -fPIC -fsyntax-only -Wall -Wextra -Wno-unused-parameter -x c".split()


@pytest.fixture
def variants(monkeypatch: pytest.MonkeyPatch) -> list[build.Variant]:
    """Everything that is compiled, each as one text as `build` does it."""
    found: list[build.Variant] = []

    def keep(_compiler: object, variant: build.Variant) -> Path:
        found.append(variant)
        return Path()

    monkeypatch.setattr(build, "_build", keep)
    build.link_flags(["gcc"], shared=False, static=False, openmp=False)
    build.link_flags(["gcc"], shared=False, static=True, openmp=True)
    plugin.plugin()
    if platform.machine() == "x86_64":
        plugin.mark()
    return found


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_what_is_compiled_has_no_warnings(variants: list[build.Variant]) -> None:
    assert {"dynamic", "static", "openmp", "qemu"} <= {variant.name for variant in variants}
    for variant in variants:
        text = "".join(f'#include "{source}"\n' for source in variant.sources)
        folders = {f"-I{source.parent}" for source in variant.sources} | {f"-I{build.SOURCES}"}
        macros = [flag for flag in variant.flags if flag.startswith("-D")]
        line = ["gcc", *_FLAGS, *macros, *sorted(folders), "-"]
        done = subprocess.run(line, input=text, capture_output=True, text=True, check=False)
        assert (done.stderr, done.returncode) == ("", 0), variant.name

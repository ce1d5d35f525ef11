"""Without pandas or matplotlib, what needs them says how to install them."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.errors import of_extra

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def _trace() -> hn.Trace:
    return hn.synthetic("t-s", references=100)


@pytest.mark.parametrize(
    ("extra", "package", "call"),
    [
        ("pandas", "pandas", lambda: hn.simulate(_trace(), "numa", "ace", 64).to_pandas()),
        ("pandas", "pandas", lambda: hn.optimal(_trace(), "numa", 64).curves()),
        ("plot", "matplotlib", lambda: hn.simulate(_trace(), "numa", "ace", 64).plot()),
        ("plot", "matplotlib", lambda: hn.simulate(_trace(), "bus-smp", scaling="1,2").plot()),
        ("plot", "matplotlib", lambda: hn.tlb(_trace(), "ace", "64,128").plot()),
        ("plot", "matplotlib", lambda: hn.sensitivity(_trace(), "numa", "ace", 64).plot()),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, extra: str, package: str, call: Callable[[], object]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(hn.ConfigError, match=f"needs {package}, .* 'homenode\\[{extra}\\]'"):
        call()
    extras = tomllib.loads(_PROJECT.read_text())["project"]["optional-dependencies"]
    assert any(need.startswith(package) for need in extras[extra])


def test_a_package_that_is_broken_is_not_called_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="numpy"), of_extra("pandas", "pandas"):
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

"""The examples in the documentation strings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import homenode

_MODULES = [
    module.name
    for module in pkgutil.walk_packages(homenode.__path__, "homenode.")
    if module.name not in {"homenode.__main__", "homenode._core"}
]


@pytest.mark.parametrize("name", ["homenode", *_MODULES])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert found.failed == 0

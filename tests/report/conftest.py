"""Fixtures for tests of pages: a browser, and the page of `explained` open in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import homenode as hn
from support.browser import BROWSER, Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def page(explained: hn.Explanation, tmp_path: Path) -> Path:
    path = tmp_path / "explain.html"
    path.write_text(explained.html("homenode explain"))
    return path


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.events.clear()
    browser.open(page)
    return browser

"""What all pages of `homenode explain` do in a real browser."""

import pytest

import homenode as hn
from support import explained as explanations
from support.browser import CONTRASTS, Browser

pytestmark = pytest.mark.timeout(1200)
_UNFOLD = "document.querySelectorAll('details').forEach(d => { d.open = true; })"


@pytest.fixture(scope="module", params=["bus", "directory", "pages"])
def explained(request: pytest.FixtureRequest) -> hn.Explanation:
    found: hn.Explanation = getattr(explanations, request.param)()
    return found


def test_buttons_list_and_links_go_anywhere(opened: Browser, explained: hn.Explanation) -> None:
    count = len(explained.steps())
    shown = "document.getElementById('count').textContent"
    opened.value("document.querySelectorAll('.jump')[4].click()")
    assert opened.value(shown) == f"5 of {count}"
    assert opened.value("location.hash") == "#step-5"
    opened.value("document.querySelector('[data-go=on]').click()")
    assert opened.value(shown) == f"6 of {count}"
    opened.value("document.querySelector('[data-go=first]').click()")
    assert opened.value(shown) == f"0 of {count}"
    assert opened.value("document.querySelectorAll('.ladder li').length") == 0
    assert opened.said() == []


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_the_page_fits_the_width(opened: Browser, width: int) -> None:
    opened.size(width)
    opened.value(_UNFOLD)
    for key in (*["ArrowRight"] * 5, "End"):
        opened.press(key)
        assert opened.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(opened: Browser, scheme: str) -> None:
    opened.prefer(scheme)
    opened.value(_UNFOLD)
    weak = []
    for _ in range(9):
        opened.press("ArrowRight")
        contrasts = opened.value(CONTRASTS)
        assert len(contrasts) > 20
        weak += [entry for entry in contrasts if entry[1] < 4.5]
    opened.prefer()
    assert weak == []

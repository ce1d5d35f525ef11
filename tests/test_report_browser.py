"""The report in a real browser: it draws, it answers keys and pointers, and it fetches nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Self

import pytest
import websocket

from canned import costs, matrix
from homenode.report import build
from homenode.specs import plain_number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import homenode as hn

_BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
_SIZES = (64, 512, 4096)
_ROWS = matrix(("numa", "dsm"), _SIZES)

pytestmark = [
    pytest.mark.skipif(_BROWSER is None, reason="no Chromium on this machine"),
    pytest.mark.timeout(120),
]


class Browser:
    """A headless Chromium, spoken to over its debugging protocol."""

    def __init__(self, folder: Path) -> None:
        assert _BROWSER is not None
        line = [_BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
        line += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        line += ["--disable-component-update", "--disable-dev-shm-usage"]
        line += ["--remote-debugging-port=0", "--remote-allow-origins=*"]
        self._process = subprocess.Popen(
            [*line, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._socket = websocket.create_connection(self._endpoint(), timeout=60)
        self._number = 0
        self.events: list[dict[str, Any]] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]

    _session: str | None = None

    def _endpoint(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "DevTools listening on " in line:
                return line.split()[-1]
        raise AssertionError("the browser did not start")

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer; events meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer: dict[str, Any] = json.loads(self._socket.recv())
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, page: Path, width: int = 1100) -> None:
        """Loads a file and waits until its script has run."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")
        self.size(width)
        self("Page.navigate", url=page.as_uri())
        for _ in range(200):
            if self.value("document.documentElement?.dataset.ready") == "yes":
                return
            self(
                "Runtime.evaluate",
                expression="new Promise(r => setTimeout(r, 25))",
                awaitPromise=True,
            )
        raise AssertionError("the page's script did not finish")

    def size(self, width: int) -> None:
        """Sets the size of the window in CSS pixels."""
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )

    def press(self, key: str) -> None:
        """Presses and releases a key."""
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27}
        for kind in ("keyDown", "keyUp"):
            self(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
            )

    def said(self) -> list[str]:
        """Everything that went wrong in the page: exceptions, console and security messages."""
        bad = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [json.dumps(e["params"]) for e in self.events if e.get("method") in bad]

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = [e["params"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=20)
        assert self._process.stderr is not None
        self._process.stderr.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def page(trace: hn.Trace, tmp_path: Path) -> Path:
    point = {"machines": ["numa"], "policies": ["ace"], "block_sizes": [4096]}
    study = build.Study("canned", trace.info, _ROWS, costs(), point)
    html = build.render([study], title="How far?", command="homenode report", configuration={})
    path = tmp_path / "report.html"
    path.write_text(html)
    return path


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.events.clear()
    browser.open(page)
    return browser


def _expected(machine: str, size: int) -> dict[str, str]:
    return {
        row["policy"]: plain_number(row["mcpr"])
        for row in _ROWS
        if row["machine"] == machine and row["block_size"] == size
    }


_SHOWN = """Object.fromEntries([...document.querySelectorAll('.bars tbody tr')].map(
    row => [row.dataset.policy, row.querySelector('.mcpr').textContent]))"""


def test_it_loads_without_a_word_and_fetches_nothing(opened: Browser, page: Path) -> None:
    assert opened.said() == []
    assert [url for url in opened.requests() if not url.startswith("data:")] == [page.as_uri()]


def test_the_charts_are_drawn(opened: Browser) -> None:
    assert opened.value("document.querySelectorAll('svg.panel .series').length") == 12
    assert opened.value("document.querySelectorAll('svg.heat path').length") > 3
    boxes = opened.value(
        "[...document.querySelectorAll('svg[role=img]')].map(s => s.getBoundingClientRect().height)"
    )
    assert all(height > 40 for height in boxes)
    widths = opened.value(
        "[...document.querySelectorAll('.bars tbody tr')].map(r => r.dataset.policy + ' ' + "
        "Math.round([...r.querySelectorAll('i')].reduce((s, i) => "
        "s + i.getBoundingClientRect().width, 0)))"
    )
    lengths = [int(text.split()[1]) for text in widths]
    assert lengths == sorted(lengths)
    assert lengths[0] > 10


def test_the_values_are_those_of_the_simulation(opened: Browser) -> None:
    assert opened.value(_SHOWN) == _expected("numa", 4096)


def test_all_numbers_can_be_saved(opened: Browser) -> None:
    opened.value("URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }")
    opened.value("document.querySelector('[data-save=json]').click()")
    found = opened("Runtime.evaluate", expression="saved.text()", awaitPromise=True)
    assert json.loads(found["result"]["value"]) == _ROWS
    opened.value("document.querySelector('[data-save=csv]').click()")
    found = opened("Runtime.evaluate", expression="saved.text()", awaitPromise=True)
    lines = found["result"]["value"].splitlines()
    assert len(lines) == len(_ROWS) + 1
    assert lines[1].split(",")[-1] == str(_ROWS[0]["mcpr"])


def test_another_machine_and_size_can_be_chosen(opened: Browser) -> None:
    opened.value("document.querySelector('input[name$=machine][value=\"1\"]').click()")
    opened.value("document.querySelector('input[name$=size][value=\"0\"]').click()")
    assert opened.value(_SHOWN) == _expected("dsm", 64)
    assert opened.value("document.querySelector('.at-machine').textContent") == "dsm"
    assert opened.value("document.querySelector('.at-size').textContent") == "64 B"
    assert _expected("dsm", 64)["delay"] == "∞"


def test_panels_are_read_by_keyboard(opened: Browser) -> None:
    opened.value("document.querySelector('svg.panel').focus()")
    opened.press("ArrowRight")
    text = opened.value("document.getElementById('tip').textContent")
    assert text.startswith("numa, 4 KB")
    assert all(value in text for value in _expected("numa", 4096).values())
    opened.press("Escape")
    assert opened.value("document.getElementById('tip').hidden") is True


def test_the_map_is_read_by_keyboard(opened: Browser) -> None:
    opened.value("document.querySelector('svg.heat').focus()")
    opened.press("ArrowRight")
    text = opened.value("document.getElementById('tip').textContent")
    assert "processor 0: 20 reads, 0 writes" in text
    assert "touched by 1 of 3 processors" in text


def test_a_policy_can_be_hidden(opened: Browser) -> None:
    opened.value("document.querySelector('.toggles [data-policy=ace]').click()")
    hidden = "getComputedStyle(document.querySelector('.series[data-policy=ace]')).display"
    assert opened.value(hidden) == "none"
    assert (
        opened.value("document.querySelector('.toggles [data-policy=ace]').ariaPressed") == "false"
    )


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_nothing_sticks_out_sideways(opened: Browser, width: int) -> None:
    opened.size(width)
    opened.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert opened.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened: Browser, scheme: str) -> None:
    opened(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    contrasts = opened.value(_CONTRASTS)
    opened("Emulation.setEmulatedMedia", features=[])
    assert len(contrasts) > 20
    weak = [entry for entry in contrasts if entry[1] < 4.5]
    assert weak == []


# WCAG 2 contrast of every text against the nearest opaque background behind it.
_CONTRASTS = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const found = new Map();
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || node.closest('script, style, [hidden]')) continue;
    const style = getComputedStyle(node);
    const ink = parse(node.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    const name = `${node.tagName}.${node.className.baseVal ?? node.className}`;
    found.set(name, Math.min(found.get(name) ?? 99, (a + 0.05) / (b + 0.05)));
  }
  return [...found];
})()"""

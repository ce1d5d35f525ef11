"""A headless Chromium for tests of pages, driven over its debugging protocol."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Self

import websocket

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)


class Browser:
    """A headless Chromium, driven over its debugging protocol."""

    def __init__(self, folder: Path) -> None:
        assert BROWSER is not None
        line = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
        line += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
        line += ["--disable-component-update", "--disable-dev-shm-usage"]
        line += ["--remote-debugging-port=0", "--remote-allow-origins=*"]
        self._process = subprocess.Popen(
            [*line, f"--user-data-dir={folder}", "about:blank"],
            # What the browser leaves behind when it is terminated goes with the folder.
            env={**os.environ, "TMPDIR": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._socket = websocket.create_connection(self._endpoint(), timeout=600)
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
        while self.value("document.documentElement?.dataset.ready") != "yes":
            assert "Runtime.exceptionThrown" not in {event.get("method") for event in self.events}
            self(
                "Runtime.evaluate",
                expression="new Promise(r => setTimeout(r, 25))",
                awaitPromise=True,
            )

    def size(self, width: int) -> None:
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, *schemes: str) -> None:
        """Sets the preferred colour scheme, light or dark; none if empty."""
        features = [{"name": "prefers-color-scheme", "value": scheme} for scheme in schemes]
        self("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str) -> None:
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27}
        codes |= {"Home": 36, "End": 35, " ": 32}
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
        self._process.wait(timeout=200)
        assert self._process.stderr is not None
        self._process.stderr.close()


def check_fits(opened: Browser, width: int) -> None:
    """Checks that nothing on an unfolded page is wider than a window of this width."""
    opened.size(width)
    opened.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert opened.value("document.documentElement.scrollWidth") <= width


def check_contrasts(opened: Browser, scheme: str) -> None:
    """Checks that all text of a page can be read in this colour scheme."""
    opened.prefer(scheme)
    contrasts = opened.value(CONTRASTS)
    opened.prefer()
    assert len(contrasts) > 20
    assert [entry for entry in contrasts if entry[1] < 4.5] == []


# WCAG 2 contrast of every text against the nearest opaque background behind it.
CONTRASTS = """(() => {
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

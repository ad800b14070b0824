"""A headless Chromium that is told what to do over a pair of pipes, for pages that never finish loading."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

PATIENCE_SECONDS = 60.0


class Browser:
    """One page of a browser. Use it as a context manager."""

    def __init__(self, profile: Path) -> None:
        names = ("chromium", "chromium-browser", "google-chrome", "chrome")
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            pytest.skip("chromium is not installed")
        self._program, self._profile = program, profile
        self._number, self._rest, self._session = 0, b"", ""

    def __enter__(self) -> Browser:
        theirs, self._send = os.pipe()
        self._receive, other = os.pipe()

        def as_agreed() -> None:
            # Chromium reads commands from descriptor 3 and writes answers to 4.
            read, write = os.dup(theirs), os.dup(other)
            os.dup2(read, 3)
            os.dup2(write, 4)

        command = [
            self._program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            f"--user-data-dir={self._profile}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            command, preexec_fn=as_agreed, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(other)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._send)
        os.close(self._receive)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the DevTools protocol."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._send, json.dumps(command).encode() + b"\0")
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._receive], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._receive, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def open(self, address: str) -> None:
        """Go to a page."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is, as plain data; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """The first value of an expression that is true."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
            value = answer["result"].get("value")
            if value and "exceptionDetails" not in answer:
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}\n{self.value('document.body.innerText')[:2000]}")

    def press(self, key: str, selector: str) -> None:
        """Press a key where an element has the focus."""
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        names = {"key": key, "code": key, "windowsVirtualKeyCode": VIRTUAL_KEYS.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown", **names)
        self.call("Input.dispatchKeyEvent", type="keyUp", **names)

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window a size in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def picture(self, path: Path, *, dark: bool = False) -> None:
        """The whole page as PNG."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))


VIRTUAL_KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}

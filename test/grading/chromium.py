# Copyright 2026 harness_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the DevTools protocol through a pair of pipes.

`--remote-debugging-pipe` needs no port and no library: messages are JSON, a zero byte after each,
on file descriptors 3 (to the browser) and 4 (from it).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60.0


def find() -> str | None:
    """The browser of this machine. Some of these names only say how to install one."""
    for path in filter(None, map(shutil.which, NAMES)):
        if subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0:
            return path
    return None


class Browser:
    """A browser with one page, until it is closed."""

    def __init__(self, executable: str, profile: Path) -> None:
        self._to, self._from, self._process = _started(executable, profile)
        self._buffer = b""
        self._number = 0
        self._opened = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        """Every event of the page since `forget`."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        number, deadline = self._number, time.monotonic() + PATIENCE_S
        while True:
            answer = self._read(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, url: str, scripts: bool = True) -> None:
        """Opens a page and waits until all of it is there, and drawn where it may run scripts."""
        self.forget()
        self._opened += 1
        # Another query, or an address that differs after # alone would only move within the page.
        page, mark, hash_ = url.partition("#")
        self.call("Page.navigate", url=f"{page}?{self._opened}{mark}{hash_}")
        self._await(lambda: "Page.loadEventFired" in self.names)
        if scripts:
            # Before its first frame a page may drop what mouse and keyboard do.
            self.run("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def forget(self) -> None:
        self.events = []

    @property
    def names(self) -> list[str]:
        return [event["method"] for event in self.events]

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript, promises awaited."""
        done = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        problem = done.get("exceptionDetails")
        if problem:
            said = problem.get("exception", {}).get("description") or problem["text"]
            raise AssertionError(f"{expression}: {said}")
        return done["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Waits until an expression is true, looking again at each frame that the page draws."""
        self.run(
            "new Promise((resolve, reject) => { const until = performance.now() + 10000;"
            f"const look = () => ({expression}) ? resolve() : performance.now() > until ?"
            f" reject(new Error('not within 10 s')) : requestAnimationFrame(look); look(); }})"
        )

    def press(self, key: str, text: str = "", modifiers: int = 0) -> None:
        """A key, as a keyboard would send it."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowRight": 39}
        fields = {"key": key, "code": key, "modifiers": modifiers}
        fields["windowsVirtualKeyCode"] = code.get(key, ord(key[0].upper()))
        text = text or ("\r" if key == "Enter" else key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **fields)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """The left button in the middle of an element, once that stands still."""
        x, y = self.run(
            f"""new Promise((resolve) => {{
                const found = document.querySelector({json.dumps(selector)});
                found.scrollIntoView({{ block: "center", behavior: "instant" }});
                let before = "";
                const look = () => {{
                    const box = found.getBoundingClientRect();
                    const now = `${{box.x}} ${{box.y}}`;
                    if (now === before) resolve([box.x + box.width / 2, box.y + box.height / 2]);
                    before = now;
                    requestAnimationFrame(look);
                }};
                look();
            }})"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def size(self, width: int, height: int = 900, dark: bool = False, mobile: bool = False) -> None:
        """Makes the window so large, in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    @property
    def problems(self) -> list[str]:
        """What the console was told of errors and warnings, and exceptions that nobody caught."""
        found = []
        for event in self.events:
            method, fields = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(fields["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and fields["type"] in ("error", "warning"):
                found.append(json.dumps(fields["args"]))
            elif method == "Log.entryAdded" and fields["entry"]["level"] in ("error", "warning"):
                found.append(fields["entry"]["text"])
        return found

    @property
    def requests(self) -> set[str]:
        """The files and addresses that were asked for, without those that hold their own data."""
        urls = (
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        )
        return {re.split(r"[?#]", url)[0] for url in urls if not url.startswith("data:")}

    def _await(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self._read(deadline)

    def _read(self, deadline: float) -> dict[str, Any]:
        """The next message; events are kept."""
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                raise AssertionError(f"the browser did not answer within {PATIENCE_S:g} s")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message


def _started(executable: str, profile: Path) -> tuple[int, int, subprocess.Popen[bytes]]:
    """The browser, and the ends of its pipes: to it and from it."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # Above those that the shell is to put them onto.
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
    os.close(theirs_in)
    os.close(theirs_out)
    command = [executable, *OPTIONS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{high[0]} 4>&{high[1]}', "bash", *command],
        pass_fds=high,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in high:
        os.close(end)
    return ours_out, ours_in, process

# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Control a real Chromium for tests of HTML, with the few parts of the WebDriver protocol that they need."""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class BrowserError(Exception):
    pass


def available():
    return bool(shutil.which("chromedriver") and shutil.which("chromium"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    """with Browser() as b: b.open(path); b.run("return 1")"""

    def __init__(self, width=1280, height=900, dark=False):
        self.port = free_port()
        self.home = tempfile.mkdtemp(prefix="sbt-browser-")
        with open(os.path.join(self.home, "log"), "wb") as log:
            self.driver = subprocess.Popen(
                ["chromedriver", f"--port={self.port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, env={**os.environ, "HOME": self.home, "TMPDIR": self.home})
        try:
            self.begin(width, height, dark)
        except BaseException:
            self.close()
            raise

    def begin(self, width, height, dark):
        end = time.monotonic() + 30
        while True:
            try:
                if self.call("GET", "/status")["ready"]:
                    break
            except (OSError, BrowserError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--window-size={width},{height}", f"--user-data-dir={self.home}/profile"]
        if dark:
            arguments.append("--force-dark-mode")
        options = {"args": arguments, "binary": shutil.which("chromium")}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def open(self, path):
        self.call("POST", self.session + "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *args):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def command(self, name, **params):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": name, "params": params})

    def find(self, css):
        return self.call("POST", self.session + "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.call("POST", f"{self.session}/element/{self.find(css)}/click", {})

    def type(self, css, text):
        """Replace the text of an input by typing."""
        control_a, delete = "\ue009a\ue009", "\ue017"
        self.call("POST", f"{self.session}/element/{self.find(css)}/value", {"text": control_a + delete + text})

    def point(self, css, x, y):
        """Click at a point, in pixels from the middle of an element."""
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
                {"type": "pointerMove", "duration": 20, "origin": {ELEMENT: self.find(css)}, "x": x, "y": y},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}]})

    def drag(self, css, x0, x1, y=0):
        """Press the button at x0 from the middle of an element, and release it at x1."""
        origin = {ELEMENT: self.find(css)}

        def move(x):
            return {"type": "pointerMove", "duration": 60, "origin": origin, "x": x, "y": y}

        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
                move(x0), {"type": "pointerDown", "button": 0}, move((x0 + x1) // 2), move(x1),
                {"type": "pointerUp", "button": 0}]}]})

    def log(self):
        """Return the console messages since the last call."""
        return self.call("POST", self.session + "/se/log", {"type": "browser"})

    def picture(self, path, full=True):
        params = {"format": "png"}
        if full:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            params.update(captureBeyondViewport=True,
                          clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.command("Page.captureScreenshot", **params)["data"]))

    def close(self):
        try:
            if hasattr(self, "session"):
                self.call("DELETE", self.session)
        except (OSError, BrowserError):
            pass
        finally:
            try:
                os.killpg(self.driver.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.driver.wait()
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

"""A page in Debian's chromium, by the WebDriver protocol and the standard library."""
import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for "an element"


def missing_browser():
    """What is missing here to open a page; nothing: nothing is."""
    for program in "chromium", "chromedriver":
        if not shutil.which(program):
            return f"there is no {program} here: the page was not opened in a browser"
    return None


class Browser:
    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                if self._ask("GET", "/status")["ready"]:
                    break
            except OSError:
                time.sleep(0.1)
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": shutil.which("chromium"),
                                   "args": ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1200"]}}}})
        self.url += f"/session/{session['sessionId']}"
        return self

    def __exit__(self, *_):
        try:
            self._ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, headers={"Content-Type": "application/json"},
                                         data=json.dumps(body or {}).encode() if method == "POST" else None)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self._ask("POST", "/url", {"url": url})

    def _find(self, selector):
        return self._ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        return self._ask("GET", f"/element/{self._find(selector)}/text")

    def click(self, selector):
        self._ask("POST", f"/element/{self._find(selector)}/click")

    def count(self, selector):
        return len(self._ask("POST", "/elements", {"using": "css selector", "value": selector}))

    def run(self, script):
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def errors(self):
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def _command(self, name, parameters):
        """A command of Chromium's own protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def show_as(self, width, height=900, dark=False):
        """As on a screen of that many pixels; windows cannot be that narrow."""
        self._command("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self._command("Emulation.setEmulatedMedia",
                      {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def picture(self):
        """The window, as bytes of a PNG."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

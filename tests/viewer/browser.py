"""Chromium without a window, controlled through a pipe (--remote-debugging-pipe): no port, no other package."""

import json
import os
import shutil
import subprocess
import tempfile
import time


def program():
    """Chromium's path, or None."""
    return os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One process with one page at a time."""

    def __init__(self, width=1280, height=800):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Chromium may still write
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        words = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"]
        # Chromium reads its descriptor 3 and writes its descriptor 4.
        shell = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"'
        self.process = subprocess.Popen(["/bin/bash", "-c", shell, "browser", *words], pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.count, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, parameters=None):
        self.count += 1
        number = self.count
        request = {"id": number, "method": method, "params": parameters or {}}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            m = self.message()
            if m.get("id") == number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})

    def open(self, url, seconds=60):
        """Loads a page and waits until its scripts have ended; returns the seconds that took."""
        self.events.clear()
        begin = time.monotonic()
        self.call("Page.navigate", {"url": "about:blank"})
        self.call("Page.navigate", {"url": url})
        while self.js("document.readyState === 'complete' && location.href !== 'about:blank' ? 'yes' : ''") != "yes":
            if time.monotonic() - begin > seconds:
                raise RuntimeError(f"{url} is not loaded after {seconds} s")
            time.sleep(0.01)
        self.settle()
        return time.monotonic() - begin

    def js(self, text):
        """The value of an expression; a promise is awaited."""
        result = self.call("Runtime.evaluate", {"expression": text, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise RuntimeError(f"{text}: {result['exceptionDetails'].get('exception', {}).get('description', result['exceptionDetails']['text'])}")
        return result["result"].get("value")

    def settle(self):
        """Waits until what was asked to be drawn is drawn."""
        self.js("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def click(self, x, y, count=1):
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": n})
        self.settle()

    def key(self, key):
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Backspace": 8}.get(key, ord(key[0]))
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, **text})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "windowsVirtualKeyCode": code})
        self.settle()

    def type(self, element, text):
        """Puts a text into an input as a user would."""
        self.js(f"document.getElementById({json.dumps(element)}).focus(); document.getElementById({json.dumps(element)}).select?.()")
        self.call("Input.insertText", {"text": text})
        self.settle()

    def choose(self, element, value):
        self.js(f"{{ const e = document.getElementById({json.dumps(element)}); e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')); }}")
        self.settle()

    def text(self, element):
        return self.js(f"document.getElementById({json.dumps(element)}).innerText")

    def screenshot(self, path):
        import base64

        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def problems(self):
        """What the page said on the console, exceptions, and requests other than for the page itself."""
        found = []
        for e in self.events:
            if e["method"] == "Runtime.exceptionThrown":
                found.append(e["params"]["exceptionDetails"].get("exception", {}).get("description", str(e["params"])))
            elif e["method"] == "Runtime.consoleAPICalled":
                found.append(str(e["params"]["args"]))
            elif e["method"] == "Log.entryAdded":
                found.append(e["params"]["entry"]["text"])
            elif e["method"] == "Page.javascriptDialogOpening":
                found.append(f"a dialog: {e['params']['message']}")
            elif e["method"] == "Network.requestWillBeSent":
                url = e["params"]["request"]["url"]
                if e["params"].get("type") != "Document" and not url.startswith(("blob:", "data:")):
                    found.append(f"a request for {url}")
        return found

"""Chromium driven over the pipe of its DevTools protocol: no port, no package, nothing to race."""

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from select import select

ARGUMENTS = [
    "--headless",
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--no-first-run",
    "--lang=en",
    "--remote-debugging-pipe",
]
HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR")
"""Where Chromium and its crash handler write beside the profile; all of it lies in there."""
PATIENCE = 30


class Chromium:
    """One headless browser."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="perrecord-chromium-")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # Chromium reads from 3 and writes to 4; ours must not lie there when they are moved.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
        quiet = os.open(os.devnull, os.O_RDWR)
        moved = [(quiet, 1), (quiet, 2), (high[0], 3), (high[1], 4)]
        self.process = os.posix_spawn(
            shutil.which("chromium"),
            ["chromium", *ARGUMENTS, f"--user-data-dir={self.profile}", "about:blank"],
            os.environ | dict.fromkeys(HOMES, self.profile),
            file_actions=[(os.POSIX_SPAWN_DUP2, source, target) for source, target in moved],
            setpgroup=0,
        )
        for end in (theirs_in, theirs_out, *high, quiet):
            os.close(end)
        self.read_end, self.write_end = ours_in, ours_out
        self.buffer, self.number = b"", 0
        self.events = []

    def post(self, method, session=None, **parameters):
        """Send a command and return its number, without waiting for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        return self.number

    def send(self, method, session=None, **parameters):
        """Return the result of one command; events that arrive meanwhile are kept."""
        number = self.post(method, session, **parameters)
        while True:
            answer = self._next()
            assert "error" not in answer, f"at {method}: {answer['error']}"
            if answer.get("id") == number:
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait_for(self, method, session):
        """Return the next event of this name."""
        while True:
            for event in self.events:
                if event["method"] == method and event.get("sessionId") == session:
                    self.events.remove(event)
                    return event["params"]
            self.events.append(self._next())

    def _next(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"Chromium was silent for {PATIENCE} seconds"
            read = os.read(self.read_end, 1 << 20)
            assert read, "Chromium ended"
            self.buffer += read
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def close(self):
        """End the browser and remove its profile."""
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.read_end)
        os.close(self.write_end)
        # What it has started may write for a moment more, so that one removal may not do.
        deadline = time.monotonic() + PATIENCE
        while os.path.lexists(self.profile):
            shutil.rmtree(self.profile, ignore_errors=True)
            assert time.monotonic() < deadline, f"{self.profile} cannot be removed"
            time.sleep(0.01)

    def open(self, path: Path | str, **how):
        """Return a new tab that has loaded the file, or what is at the address."""
        return Tab(self, path, **how)


KEYS = {
    "Backspace": (8, ""),
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Home": (36, ""),
    "End": (35, ""),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    " ": (32, " "),
}


class Tab:
    """One page, with what it asked of the network, said on the console and opened as dialogs."""

    def __init__(self, browser, path, width=1200, height=900, script=True, media=""):
        self.browser = browser
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.send("Emulation.setEmulatedMedia", media=media)
        self.send("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        browser.wait_for("Page.loadEventFired", self.session)

    def send(self, method, **parameters):
        """Return the result of a command in this tab."""
        return self.browser.send(method, self.session, **parameters)

    def events(self, method):
        """Return the events of one name that have arrived by now."""
        self.evaluate("0")
        return [
            event["params"]
            for event in self.browser.events
            if event["method"] == method and event.get("sessionId") == self.session
        ]

    def evaluate(self, expression):
        """Return the value of an expression in the page."""
        given = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in given, given["exceptionDetails"]
        return given["result"].get("value")

    def settle(self, milliseconds=200):
        """Wait until what the page does after a pause, drawing and speaking, is done."""
        pause = f"new Promise(done => setTimeout(done, {milliseconds})).then(() => 0)"
        self.evaluate(pause)

    def press(self, key, times=1):
        """Press and release a key."""
        if not times:
            return
        code, text = KEYS[key]
        strokes = [
            {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": given}
            for kind, given in (("keyDown", text), ("keyUp", ""))
        ] * times
        for stroke in strokes[:-1]:  # they arrive in order; the last answer is that of all
            self.browser.post("Input.dispatchKeyEvent", self.session, **stroke)
        self.send("Input.dispatchKeyEvent", **strokes[-1])

    def write(self, text):
        """Type text where the focus is, over what is selected."""
        self.send("Input.insertText", text=text)

    def picture(self, path, whole=True):
        """Write a screenshot."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        """Close the tab."""
        self.browser.send("Target.closeTarget", targetId=self.target)
        kept = [each for each in self.browser.events if each.get("sessionId") != self.session]
        self.browser.events[:] = kept

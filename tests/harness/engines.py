"""Browsers of other engines than Chromium: Firefox (Gecko) and the small browser of WebKitGTK (WebKit).

Playwright drives only its own builds, so these are driven by the protocols that Debian's packages speak: Firefox by
Marionette, WebKit by WebDriver. Both have the same commands. tools/get_engines.sh installs the packages.
"""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from players.models import User

PATIENCE = 30.0  # seconds: the limit for a busy machine, not for a page
POLL = 0.02
HOW_TO_GET_IT = "No {} found. As root: tools/get_engines.sh (make test-all does it then)."

COMPLAIN = """
    window.complaints = [];
    addEventListener("error", (event) => complaints.push(event.message ?? "a file is missing"), true);
    addEventListener("unhandledrejection", (event) => complaints.push(String(event.reason)));
    addEventListener("securitypolicyviolation", (event) => complaints.push("policy: " + event.violatedDirective));
    const write = console.error;
    console.error = (...words) => { complaints.push(words.join(" ")); write(...words); };
"""
CONSOLE = """
    return Services.console.getMessageArray()
        .filter((each) => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))
        .filter((each) => each.sourceName.startsWith(arguments[0]))
        .map((each) => each.errorMessage);
"""
MIDDLE = """
    const spot = document.querySelector(arguments[0]);
    spot.scrollIntoView({ block: "nearest", behavior: "instant" });
    const box = spot.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2].map(Math.round);
"""

Call = Callable[..., Any]


class Engine:
    """A browser and its one window.

    *call* sends a command of WebDriver and returns its value; *console* returns the errors on the browser's console.
    """

    def __init__(self, call: Call, url: str, console: Callable[[], list[str]] = list) -> None:
        self.call = call
        self.url = url
        self.console = console

    def open(self, path: str) -> None:
        """Open a page of the house, and record its errors from then on."""
        self.call("Navigate", url=self.url + path)
        self.run(COMPLAIN)

    def log_in(self, user: User) -> None:
        """Give the browser the cookie of a session that has begun."""
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        self.call("Navigate", url=f"{self.url}/en/offline/")
        self.call("AddCookie", cookie={"name": name, "value": client.cookies[name].value, "path": "/"})

    def run(self, script: str, *arguments: object) -> Any:
        """Run the body of a function in the page and return its value."""
        return self.call("ExecuteScript", script=script, args=list(arguments))

    def wait(self, condition: str, *arguments: object) -> None:
        """Wait until an expression is true in the page; fail with the expression if it never is."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})", *arguments):
            if time.monotonic() > end:
                pytest.fail(f"waited in vain for {condition}; the page complains of {self.complaints()}")
            time.sleep(POLL)

    def text(self, selector: str) -> str:
        """Return the text that an element shows."""
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def tap(self, selector: str, times: int = 1) -> None:
        """Tap the middle of an element, as fast as the browser takes it."""
        x, y = self.run(MIDDLE, selector)
        taps = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] * times
        way = {"type": "pointerMove", "duration": 0, "x": x, "y": y}
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}}
        self.call("PerformActions", actions=[finger | {"actions": [way, *taps]}])
        self.call("ReleaseActions")

    def complaints(self) -> list[str]:
        """Return the errors of the page since it was opened; in Firefox, also those of its loading."""
        return [*self.run("return window.complaints"), *self.console()]

    def picture(self, file: Path) -> None:
        """Write what the window shows to a PNG file."""
        file.write_bytes(base64.b64decode(self.call("TakeScreenshot", full=False)))


# --- Firefox ----------------------------------------------------------------------------------------


class _Marionette:
    """The line to Firefox: each message is its length, a colon, and JSON."""

    def __init__(self, port: int) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            with suppress(OSError):
                self.line = socket.create_connection(("127.0.0.1", port), timeout=2 * PATIENCE)
                break
            if time.monotonic() > end:
                pytest.fail("Firefox does not answer")
            time.sleep(POLL)
        self.answers = self.line.makefile("rb")
        self.sent = 0
        self._read()

    def _read(self) -> Any:
        length = b""
        while (byte := self.answers.read(1)) != b":":
            if not byte:
                pytest.fail("Firefox has ended")
            length += byte
        return json.loads(self.answers.read(int(length)))

    def call(self, name: str, **parameters: object) -> Any:
        """Send a command and return its value. Fails with Firefox's own words."""
        self.sent += 1
        area = "" if ":" in name else "WebDriver:"
        message = json.dumps([0, self.sent, area + name, parameters]).encode()
        self.line.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._read()
        if error:
            pytest.fail(f"{name}: {error['message']}")
        return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result


@contextmanager
def firefox(url: str, folder: Path, width: int, height: int) -> Iterator[Engine]:
    """Open Firefox with a touch screen and its own profile in *folder*."""
    program = _found("firefox-esr", "firefox")
    port = _free_port()
    profile = folder / "firefox"
    profile.mkdir()
    (profile / "user.js").write_text(
        f'user_pref("marionette.port", {port});\nuser_pref("dom.w3c_touch_events.enabled", 1);\n'
        'user_pref("app.normandy.enabled", false);\nuser_pref("network.captive-portal-service.enabled", false);\n'
        'user_pref("network.connectivity-service.enabled", false);\nuser_pref("services.settings.server", "");\n'
        'user_pref("browser.safebrowsing.downloads.remote.enabled", false);\n'
    )
    command = [program, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
    with _running([*command, "--profile", str(profile)], folder / "firefox.log", {"HOME": str(folder)}):
        call = _Marionette(port).call
        call("NewSession", capabilities={})
        call("SetWindowRect", width=width, height=height)

        def in_browser(script: str, *arguments: str) -> Any:
            call("Marionette:SetContext", value="chrome")
            answer = call("ExecuteScript", script=script, args=list(arguments))
            call("Marionette:SetContext", value="content")
            return answer

        # No window of Firefox is narrower than 500 pixels; its page may be.
        in_browser("gBrowser.selectedBrowser.style.maxWidth = arguments[0]", f"{width}px")
        yield Engine(call, url, lambda: in_browser(CONSOLE, url))


# --- WebKit -----------------------------------------------------------------------------------------

_WAYS = {
    "Navigate": ("POST", "/url"),
    "ExecuteScript": ("POST", "/execute/sync"),
    "PerformActions": ("POST", "/actions"),
    "ReleaseActions": ("DELETE", "/actions"),
    "AddCookie": ("POST", "/cookie"),
    "Back": ("POST", "/back"),
    "Forward": ("POST", "/forward"),
    "Refresh": ("POST", "/refresh"),
    "SetWindowRect": ("POST", "/window/rect"),
    "TakeScreenshot": ("GET", "/screenshot"),
}


@contextmanager
def webkit(url: str, folder: Path, width: int, height: int) -> Iterator[Engine]:
    """Open WebKitGTK's own browser on a screen that nobody sees. It takes a finger for a mouse."""
    program, screen = _found("WebKitWebDriver"), _found("Xvfb")
    browser = next(Path("/usr").glob("lib*/**/webkit2gtk-4.1/MiniBrowser"), None)
    if browser is None:
        pytest.fail(HOW_TO_GET_IT.format("MiniBrowser"), pytrace=False)
    port, log = _free_port(), folder / "webkit.log"
    number = folder / "display"
    with number.open("w") as shown:
        command = [screen, "-displayfd", str(shown.fileno()), "-screen", "0", "1920x1200x24", "-nolisten", "tcp"]
        with _running(command, folder / "xvfb.log", pass_fds=(shown.fileno(),)):
            _until(lambda: number.read_text().endswith("\n"), "Xvfb shows no screen")
            surroundings = {
                "DISPLAY": f":{number.read_text().strip()}",
                "HOME": str(folder),
                "XDG_RUNTIME_DIR": str(folder),
                "GDK_BACKEND": "x11",
                "LIBGL_ALWAYS_SOFTWARE": "1",
                # Tests may run as root, as which its sandbox does not start; it opens nothing but our pages.
                "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            }
            with _running([program, "--host=127.0.0.1", f"--port={port}"], log, surroundings):
                yield from _webkit_session(port, str(browser), url, width, height)


def _webkit_session(port: int, browser: str, url: str, width: int, height: int) -> Iterator[Engine]:
    _until(lambda: _answers(port), "WebKitWebDriver does not answer")
    options = {"webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]}}
    session = _ask(port, "POST", "/session", {"capabilities": {"alwaysMatch": options}})
    address = f"/session/{session['sessionId']}"

    def call(name: str, **parameters: object) -> Any:
        method, path = _WAYS[name]
        return _ask(port, method, address + path, parameters)

    try:
        call("SetWindowRect", width=width, height=height)
        yield Engine(call, url)
    finally:
        _ask(port, "DELETE", address, {})


def _answers(port: int) -> bool:
    with suppress(OSError):
        return bool(_ask(port, "GET", "/status", {}))
    return False


def _ask(port: int, method: str, path: str, parameters: dict[str, object]) -> Any:
    """Ask WebDriver and return its value. Fails with the driver's own words."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=2 * PATIENCE)
    try:
        body = json.dumps(parameters).encode() if method == "POST" else None
        line.request(method, path, body, {"Content-Type": "application/json"})
        answer = line.getresponse()
        value = json.load(answer)["value"]
    finally:
        line.close()
    if answer.status != http.HTTPStatus.OK:
        pytest.fail(f"{path}: {value}")
    return value


# --- Processes --------------------------------------------------------------------------------------


def _found(*names: str) -> str:
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.fail(HOW_TO_GET_IT.format(names[0]), pytrace=False)
    return program


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            pytest.fail(otherwise)
        time.sleep(POLL)


@contextmanager
def _running(
    command: list[str], log: Path, environment: dict[str, str] | None = None, pass_fds: tuple[int, ...] = ()
) -> Iterator[None]:
    """Run a program with all that it starts, and end them together."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | (environment or {}),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    try:
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

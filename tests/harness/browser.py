"""Real Chromium through Playwright.

The tests use Debian's Chromium, because Playwright's own download needs an open network. If the
machine has the headless shell, it is used: pages are the same and take half the time.

The fixtures `page` and `new_context` come from pytest-playwright. This module selects the browser
and the server, and adds `phone`.
"""

import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.harness.web import WebServer

NewContext = Callable[..., BrowserContext]

DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # milliseconds: the limit for a busy machine, not for a page
HOW_TO_GET_IT = (
    "No Chromium found. As root: apt-get install chromium-headless-shell fonts-dejavu-core (make test does it then). "
    "Otherwise set CHROMIUM to the path of any Chromium or Chrome."
)

expect.set_options(timeout=PATIENCE)

WAIT = """async ([argument, patience]) => {
  const holds = CONDITION;
  const given = Date.now();
  while (!holds(argument)) {
    if (Date.now() - given > patience) throw new Error(`waited in vain for ${holds}`);
    await new Promise((later) => setTimeout(later, 20));
  }
}"""


def wait_in(page: Page, condition: str, argument: object = None) -> None:
    """Wait until a JavaScript function is true of *argument*.

    The page itself polls. Playwright's `wait_for_function` calls eval on each poll, which our
    content security policy refuses from the second time on.
    """
    page.evaluate(WAIT.replace("CONDITION", condition), [argument, PATIENCE])


def find_chromium() -> str | None:
    """Return the path of Chromium: from the variable CHROMIUM, otherwise from the PATH."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the machine's Chromium; fail with installation instructions if there is none."""
    executable = find_chromium()
    if executable is None:
        pytest.fail(HOW_TO_GET_IT, pytrace=False)
    return browser_type_launch_args | {"executable_path": executable, "args": FLAGS}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """Block the service worker unless a test needs it, because it loads more than the tested page."""
    return browser_context_args | {"service_workers": "block"}


@pytest.fixture
def context(new_context: NewContext, web_server: WebServer) -> BrowserContext:
    """Return a desktop browser context on the test's web server; `page` opens in it."""
    return new_context(base_url=web_server.url, viewport=DESKTOP)


@pytest.fixture
def phone(new_context: NewContext, web_server: WebServer) -> Page:
    """Return a page of phone size with touch on the test's web server."""
    return new_context(base_url=web_server.url, viewport=PHONE, has_touch=True, is_mobile=True).new_page()

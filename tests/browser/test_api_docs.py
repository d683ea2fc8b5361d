"""The description of the API as a page: calls can be tried from it, under the policy of the house and with nothing that
comes from other hosts.
"""

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from players.api import tokens
from players.models import Scope
from tests.builders import a_player
from tests.harness.browser import DESKTOP, PHONE
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => console.error(`refused: ${event.violatedDirective}`));
"""
TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture
def faults(page: Page, web_server: WebServer) -> list[str]:
    """The faults of the page: errors, resources that the policy refuses, and requests to other hosts."""
    found: list[str] = []

    def record_request(request: Any) -> None:
        if urlsplit(request.url).scheme != "data" and not request.url.startswith(web_server.url):
            found.append(request.url)

    page.add_init_script(VIOLATIONS)
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("request", record_request)
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("size", sweep([DESKTOP, PHONE], always=[DESKTOP]), ids=["desktop", "phone"])
def test_a_call_is_tried_from_the_page(page: Page, faults: list[str], size: Any):
    player = a_player()
    _token, key = tokens.make(user=player.user, name="tried", scopes=[Scope.READ], days=1)
    page.set_viewport_size(size)
    page.goto("/api/docs/")
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".modal-ux")
    dialog.get_by_role("textbox").fill(key)
    dialog.get_by_role("button", name="Apply credentials").click()
    dialog.get_by_role("button", name="Close").click()
    call = page.locator("#operations-self-self")
    call.get_by_role("button").first.click()
    call.get_by_role("button", name="Try it out").click()
    call.get_by_role("button", name="Execute").click()
    answer = call.locator(".live-responses-table")
    expect(answer).to_contain_text(f"player:{player.pk}")
    expect(answer).to_contain_text("200")
    assert not page.evaluate(TOO_WIDE)
    assert page.locator("html").get_attribute("lang") == "en"
    assert faults == []

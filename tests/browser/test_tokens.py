"""A player creates an API token and revokes it, with the keyboard alone; the API client is a real one, and
calls the house over HTTP.
"""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.builders import a_player
from tests.harness.web import WebServer
from tests.people import PASSWORD

pytestmark = pytest.mark.browser

COPIED = "navigator.clipboard.readText()"


def calls(server: WebServer, key: str) -> int:
    """Return the status of the answer to an API client with this key."""
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    connection.request("GET", "/api/v1/self/", headers={"Authorization": f"Bearer {key}"})
    status = connection.getresponse().status
    connection.close()
    return status


def press(page: Page, role: str, name: str, key: str = "Enter") -> None:
    """Move to a control with the Tab key, like a user without a mouse, and press it."""
    wanted = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
    expect(wanted).to_be_visible()
    element = wanted.element_handle()  # finding it by its name again after each key would take seconds
    for _ in range(60):
        if element.evaluate("each => each === document.activeElement"):
            page.keyboard.press(key)
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{name} cannot be reached by keyboard")


def log_in(page: Page) -> None:
    player = a_player(password=PASSWORD)
    page.goto("/en/account/login/?next=/en/account/")
    page.get_by_label("E-mail address").fill(player.user.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in", exact=True).click()


def test_a_token_is_made_copied_used_and_revoked_with_the_keyboard(
    context: BrowserContext, web_server: WebServer
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=web_server.url)
    page = context.new_page()
    log_in(page)
    press(page, "link", "API clients")
    press(page, "link", "New API token")
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")

    press(page, "textbox", "Name", "End")
    page.keyboard.type("Chart")
    press(page, "checkbox", "Set your limits", "Space")
    press(page, "button", "Create API token")

    press(page, "button", "Copy")
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    key: str = page.evaluate(COPIED)
    assert key == page.locator("#key").inner_text()
    assert key.startswith("sabot_")
    assert calls(web_server, key) == 200

    press(page, "link", "I have saved it")
    expect(page.get_by_role("heading", name="Chart")).to_be_visible()
    expect(page.get_by_text("127.0.0.1")).to_be_visible()
    expect(page.get_by_text(key)).to_have_count(0)

    press(page, "link", "Revoke")
    press(page, "link", "Keep it")
    press(page, "link", "Revoke")
    press(page, "button", "Revoke")
    expect(page.get_by_text("The token is revoked.")).to_be_visible()
    assert calls(web_server, key) == 401


@pytest.mark.sweep
def test_where_the_browser_copies_nothing_the_key_is_marked(context: BrowserContext) -> None:
    page = context.new_page()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    log_in(page)
    page.goto("/en/account/api-tokens/new/")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_label("Name").fill("Chart")
    page.get_by_label("Set your limits").check()
    page.get_by_role("button", name="Create API token").click()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Your browser could not copy the token.")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == page.locator("#key").inner_text()

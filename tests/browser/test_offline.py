"""Offline page: shown in the reader's language when the house cannot be reached; nothing private is kept."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.at_table import log_in
from tests.builders import a_player
from tests.harness.browser import DESKTOP, wait_in
from tests.harness.sweeps import sample
from tests.harness.web import stop

pytestmark = pytest.mark.browser

KEPT = """async () => {
  const names = await caches.keys();
  const kept = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return kept.flat().map((request) => new URL(request.url).pathname);
}"""


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args):
    return browser_context_args | {"service_workers": "allow"}


@pytest.fixture
def window(new_context, web_server):
    """A player's browser, in which service workers may run."""
    window = new_context(base_url=web_server.url, viewport=DESKTOP)
    log_in(window, web_server, a_player(real=1000).user)
    return window


def settled(window, address: str) -> Page:
    """Return a page that the worker governs."""
    page = window.new_page()
    page.goto(address)
    page.evaluate("navigator.serviceWorker.ready")
    wait_in(page, "() => navigator.serviceWorker.controller")
    return page


@pytest.mark.sweep
def test_nothing_is_kept_but_the_page_itself_and_what_it_is_made_of(window):
    page = settled(window, "/en/cashier/")
    page.goto("/en/history/")
    kept = page.evaluate(KEPT)
    assert sorted(each for each in kept if not each.startswith("/static/")) == [
        f"/{language}/offline/" for language in ("da", "de", "en", "ro", "sv")
    ]
    assert "/static/css/tokens.css" in kept


@pytest.mark.parametrize(
    ("address", "language", "heading"),
    sample(
        [("/de/", "de", "Keine Verbindung"), ("/sv/cashier/", "sv", "Ingen anslutning"), ("/", "en", "No connection")],
        1,
    ),
)
def test_a_page_of_the_house_says_so_in_the_language_of_the_address(window, address, language, heading):
    page = settled(window, "/en/")
    window.set_offline(True)
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert page.locator("html").get_attribute("lang") == language
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(11, 19, 16)"
    assert page.evaluate("document.fonts.check('600 20px Newsreader')")


@pytest.mark.sweep
def test_it_keeps_the_theme_and_leads_on_when_the_connection_is_back(window):
    page = settled(window, "/en/")
    page.evaluate("localStorage.setItem('sabot.theme', 'light')")
    window.set_offline(True)
    page.goto("/en/cashier/")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    window.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cashier")
    expect(page).to_have_url("/en/cashier/")


def test_a_house_that_is_down_is_the_same_to_a_reader(window, web_server):
    page = settled(window, "/en/")
    stop(web_server)
    page.goto("/en/fair/")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")

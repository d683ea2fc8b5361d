"""Preferences: chosen in a dialog on every page, stored in the browser, applied before the first paint."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.at_table import log_in
from tests.builders import a_player, a_table
from tests.harness.browser import DESKTOP, PHONE, wait_in
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]


@pytest.fixture
def window(new_context, web_server):
    """A player's browser."""
    a_table()
    window = new_context(base_url=web_server.url, viewport=DESKTOP, color_scheme="dark")
    log_in(window, web_server, a_player(real=100_000).user)
    return window


def opened(page: Page, address: str = "/en/") -> Page:
    """Return a page with its preferences open."""
    page.goto(address)
    page.locator("[data-opens=preferences]").first.click()
    expect(page.get_by_role("dialog", name="Preferences")).to_be_visible()
    return page


def ground(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.sweep
@pytest.mark.parametrize("address", sample(["/en/", "/en/table/baccarat/real/", "/en/cashier/", "/en/nowhere/"], 1))
def test_every_page_leads_to_them(window, address):
    opened(window.new_page(), address)


@pytest.mark.sweep
def test_the_back_office_leads_to_them(new_context, web_server):
    window = new_context(base_url=web_server.url, viewport=DESKTOP)
    log_in(window, web_server, a_member_of_staff("finance").user)
    opened(window.new_page(), "/staff/")


@pytest.mark.parametrize(
    ("choice", "theme", "colour"),
    sample([("Light", "light", "rgb(241, 236, 223)"), ("High contrast", "contrast", "rgb(0, 0, 0)")], 1),
)
def test_a_theme_holds_at_once_and_after_a_reload(window, choice, theme, colour):
    page = opened(window.new_page())
    page.get_by_role("group", name="Theme").get_by_text(choice).click()
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    assert ground(page) == colour
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    assert ground(page) == colour
    assert page.locator("meta[name=theme-color]").get_attribute("content") == colour
    opened(page)
    expect(page.get_by_role("group", name="Theme").get_by_label(choice)).to_be_checked()


@pytest.mark.sweep
def test_the_theme_of_the_device_is_followed_as_it_changes(window):
    page = opened(window.new_page())
    page.get_by_role("group", name="Theme").get_by_text("Same as device").click()
    dark = ground(page)
    page.emulate_media(color_scheme="light")
    wait_in(page, "dark => getComputedStyle(document.body).backgroundColor !== dark", dark)
    expect(page.locator("meta[name=theme-color]")).to_have_attribute("content", ground(page))


@pytest.mark.sweep
def test_a_device_that_asks_for_contrast_gets_it_without_a_choice(window):
    page = window.new_page()
    page.emulate_media(contrast="more")
    page.goto("/en/")
    assert ground(page) == "rgb(0, 0, 0)"


def test_a_choice_is_in_force_before_the_first_paint(window):
    page = window.new_page()
    page.goto("/en/")
    page.evaluate("localStorage.setItem('sabot.theme', 'contrast')")
    window.add_init_script(
        """new MutationObserver((_, observer) => {
          if (!document.body) return;
          window.themeAtBody = document.documentElement.dataset.theme;
          observer.disconnect();
        }).observe(document, { childList: true, subtree: true });"""
    )
    page.reload()
    assert page.evaluate("window.themeAtBody") == "contrast"


def test_deck_sound_and_motion_are_kept_and_defaults_are_not_stored(window):
    page = opened(window.new_page())
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Four colours").click()
    dialog.get_by_role("group", name="Sound").get_by_text("On", exact=True).click()
    dialog.get_by_text("Less").click()
    root = page.locator("html")
    expect(root).to_have_attribute("data-deck", "four")
    expect(root).to_have_attribute("data-motion", "reduce")
    assert page.evaluate("[localStorage.getItem('sabot.sound'), localStorage.getItem('sabot.motion')]") == [
        "on",
        "reduce",
    ]
    assert page.evaluate("getComputedStyle(document.body).getPropertyValue('--deal')") == "0ms"
    dialog.get_by_text("Two colours").click()
    expect(root).not_to_have_attribute("data-deck", re.compile(".*"))


@pytest.mark.sweep
def test_other_tabs_follow(window):
    other = window.new_page()
    other.goto("/en/fair/")
    page = opened(window.new_page())
    page.get_by_role("group", name="Theme").get_by_text("Light").click()
    expect(other.locator("html")).to_have_attribute("data-theme", "light")


@pytest.mark.sweep
def test_they_work_by_keyboard_and_give_the_focus_back(window):
    page = window.new_page()
    page.goto("/en/")
    opener = page.locator(".bar [data-opens=preferences]")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Dark")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()


@pytest.mark.sweep
def test_on_a_phone_they_open_from_the_menu(new_context, web_server):
    page = new_context(base_url=web_server.url, viewport=PHONE, has_touch=True, is_mobile=True).new_page()
    page.goto("/de/")
    menu = page.locator("[popovertarget=site-menu]")
    menu.click()
    page.locator(".bar [data-opens=preferences]").click()
    dialog = page.get_by_role("dialog", name="Einstellungen")
    expect(dialog).to_be_visible()
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    dialog.get_by_role("button", name="Schließen").click()
    expect(dialog).to_be_hidden()
    expect(menu).to_be_focused()

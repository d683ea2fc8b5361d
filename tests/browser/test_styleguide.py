"""Animations on the style guide are the same as on the pages."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.at_table import log_in
from tests.harness.browser import DESKTOP
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]


@pytest.fixture
def page(new_context, web_server) -> Page:
    """The style guide, as a member of staff has it."""
    window = new_context(base_url=web_server.url, viewport=DESKTOP)
    log_in(window, web_server, a_member_of_staff("support").user)
    page = window.new_page()
    page.goto("/styleguide/")
    return page


@pytest.mark.sweep
def test_a_toast_says_its_sentence_until_it_is_closed(page):
    page.get_by_role("button", name="Show a toast").click()
    said = page.get_by_role("alert").filter(has_text="The house cannot be reached just now.")
    expect(said).to_be_visible()
    said.get_by_role("button", name="Close").click()
    expect(page.locator(".toast")).to_have_count(0)


def test_a_form_sent_wrong_has_the_focus_where_it_went_wrong(page):
    page.get_by_label("Name").fill("Someone")
    page.get_by_role("button", name="Send it wrong").click()
    expect(page.get_by_label("Amount")).to_be_focused()


@pytest.mark.sweep
def test_every_theme_has_its_own_colours_side_by_side(page):
    grounds = page.evaluate(
        "[...document.querySelectorAll('section[data-theme]')].map(node => getComputedStyle(node).backgroundColor)"
    )
    assert len(grounds) == len(set(grounds)) == 3


@pytest.mark.sweep
def test_four_suits_have_four_colours_where_the_deck_has_them(page):
    colours = """deck => [...new Set([...document.querySelectorAll(deck + ' .card__face')]
        .map(node => getComputedStyle(node).color))].length"""
    assert page.evaluate(colours, "[data-deck=four]") == 4
    assert page.evaluate(colours, ".money--free") == 2

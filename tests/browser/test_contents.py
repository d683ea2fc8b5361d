"""The contents of a page: folded on a phone, and opened by a link to a part of it."""

import pytest
from playwright.sync_api import expect

from backoffice.players import profile
from tests.browser.at_table import log_in
from tests.builders import a_verified_player
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.web import WebServer
from tests.people import a_member_of_staff

pytestmark = pytest.mark.browser


@pytest.mark.sweep
def test_a_phone_opens_them_when_asked(new_context: NewContext, web_server: WebServer):
    page = new_context(base_url=web_server.url, viewport=PHONE).new_page()
    page.goto("/en/help/baccarat/")
    limits = page.locator(".contents a[href='#limits']")
    expect(limits).to_be_hidden()
    page.locator(".contents summary").click()
    limits.click()
    expect(page.locator("#limits")).to_be_in_viewport()


@pytest.mark.sweep
def test_they_stay_next_to_the_text_where_there_is_room(new_context: NewContext, web_server: WebServer):
    page = new_context(base_url=web_server.url, viewport=DESKTOP).new_page()
    page.goto("/en/help/baccarat/")
    limits = page.locator(".contents a[href='#limits']")
    limits.click()
    expect(page.locator("#limits")).to_be_in_viewport()
    expect(limits).to_be_in_viewport()


def test_a_player_s_page_is_short_on_a_phone_and_a_link_opens_each_part(new_context: NewContext, web_server: WebServer):
    player = a_verified_player(real=1000)
    window = new_context(base_url=web_server.url, viewport=PHONE)
    log_in(window, web_server, a_member_of_staff("compliance").user)
    page = window.new_page()
    page.goto(f"/staff/players/{player.pk}/")
    assert page.evaluate("document.documentElement.scrollHeight") < 4500
    expect(page.locator("#money")).to_be_hidden()
    for section in profile.SECTIONS:
        page.locator(f".parts a[href='#{section.anchor}']").click()
        expect(page.locator(f"#{section.anchor}")).to_be_in_viewport()
    summary = page.locator("summary", has_text="Balances and payments")
    summary.press("Enter")
    expect(page.locator("#money")).to_be_hidden()

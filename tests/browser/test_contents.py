"""The contents of a help page: folded on a phone, open and in view next to the text where there is room."""

import pytest
from playwright.sync_api import expect

from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.web import WebServer

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

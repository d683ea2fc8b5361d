"""The language switch in a real browser: the same page, and the same place in it."""

import re

import pytest
from playwright.sync_api import expect

from tests.builders import a_table
from tests.harness.browser import NewContext
from tests.harness.sweeps import LANGUAGES
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

LINES_OF_TEXT = """links => links.map(link => {
  const text = document.createRange();
  text.selectNodeContents(link);
  return text.getClientRects().length;
})"""


def test_the_switch_keeps_query_and_scroll_position(new_context: NewContext, web_server: WebServer) -> None:
    page = new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(f"{web_server.url}/en/fair/?from=here#check")

    page.locator("details.menu summary").click()
    page.locator("button[name=language][value=ro]").click()

    expect(page).to_have_url(re.compile(r"/ro/fair/\?from=here#check$"))
    expect(page.locator("html")).to_have_attribute("lang", "ro")


@pytest.mark.sweep
def test_no_link_at_the_foot_of_the_page_breaks_in_two(new_context: NewContext, web_server: WebServer) -> None:
    page = new_context().new_page()
    for language in LANGUAGES:
        page.goto(f"{web_server.url}/{language}/terms/")
        for width in (320, 390):
            page.set_viewport_size({"width": width, "height": 844})
            links = page.locator(".foot__links > *")
            expect(links.last).to_be_visible()
            assert set(links.evaluate_all(LINES_OF_TEXT)) == {1}, (language, width)


@pytest.mark.sweep
def test_the_switch_works_at_a_door_that_was_knocked_at_in_vain(new_context: NewContext, web_server: WebServer) -> None:
    a_table()
    page = new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(f"{web_server.url}/en/demo/baccarat/")
    page.locator("#to-watch").click()
    expect(page).to_have_url(f"{web_server.url}/en/demo/baccarat/start/")

    page.locator("details.menu summary").click()
    page.locator("button[name=language][value=ro]").click()

    expect(page).to_have_url(f"{web_server.url}/ro/demo/baccarat/")
    expect(page.locator("#adult")).to_be_visible()

"""Lists of the back office by keyboard, several rows at once, and filters under a name."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from audit.models import Category, Significant, Weight, Work
from audit.significant import detection
from tests.browser.at_table import log_in
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

PAGE = "/staff/significant/"


@pytest.fixture
def page(cloned_db, new_context, web_server):
    for title in ("First", "Second", "Third"):
        happened = datetime(2026, 7, 8, 12, tzinfo=UTC)
        found = detection.Found(title, Category.ERROR, Weight.NOTICE, "ledger", title, happened_at=happened)
        detection.keep(found)
    window = new_context(base_url=web_server.url, viewport={"width": 1440, "height": 900})
    log_in(window, web_server, a_member_of_staff("compliance").user)
    page = window.new_page()
    page.goto(PAGE)
    return page


def test_keys_move_choose_and_open(page):
    rows = page.locator("[data-list] tbody tr")
    rows.first.focus()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    expect(rows.nth(2)).to_be_focused()
    assert [row.get_by_role("checkbox").is_checked() for row in rows.all()] == [True, False, True]
    page.get_by_label("Player or round").press("j")  # a letter in a field is a letter
    expect(page.get_by_label("Player or round")).to_have_value("j")
    rows.first.focus()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/staff/significant/*/")
    expect(page.locator("h1")).to_have_text("Third")


def test_several_are_closed_at_once_with_a_reason(page):
    page.get_by_label("Choose Event First").check()
    page.get_by_label("Choose Event Third").check()
    page.get_by_role("button", name="Close…").click()
    page.get_by_label("Reason").fill("A known test")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("h1")).to_contain_text("Close: done for 2 of 2")
    assert [each.title for each in Significant.objects.exclude(state=Work.CLOSED)] == ["Second"]
    page.get_by_role("link", name="Back to the list").click()
    page.get_by_role("link", name="Past decisions").click()
    expect(page.locator("tbody tr")).to_have_count(2)


def test_a_filter_is_kept_under_a_name(page):
    page.get_by_label("Severity").select_option(label="Alerts")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("Columns and saved filters").click()
    page.get_by_label("Name of this filter").fill("My alerts")
    page.get_by_role("button", name="Save filter").click()
    page.goto(PAGE)
    expect(page.locator("[data-list] tbody tr")).to_have_count(3)
    page.get_by_role("navigation", name="Saved filters").get_by_role("link", name="My alerts").click()
    expect(page.get_by_label("Severity")).to_have_value("2")
    expect(page.get_by_text("No significant events match this filter.")).to_be_visible()

"""The dashboard while somebody reads it: it refreshes itself, and takes neither the focus away nor what is unfolded."""

import pytest
from playwright.sync_api import expect

from tests import played
from tests.browser.at_table import log_in
from tests.people import a_member_of_staff

pytestmark = pytest.mark.browser

DAYS = "period=own&since=2026-03-27&until=2026-03-31"
A_MINUTE = 61_000  # milliseconds, and one second more
FIRST_CURRENCY = "document.querySelector('section[aria-labelledby=dashboard-SEK]').remove()"


@pytest.fixture
def page(cloned_db, new_context, web_server):
    played.House().play()
    played.spread(cloned_db)
    window = new_context(base_url=web_server.url, reduced_motion="reduce")
    log_in(window, web_server, a_member_of_staff("finance").user)
    page = window.new_page()
    page.clock.install()
    page.goto(f"/staff/dashboard/?{DAYS}")
    return page


def refresh(page) -> None:
    """Let a minute pass, and wait for the figures that the page asked for."""
    page.locator("#dashboard").evaluate("each => each.dataset.old = 'yes'")
    page.clock.fast_forward(A_MINUTE)
    expect(page.locator("#dashboard:not([data-old])")).to_be_visible()


@pytest.mark.sweep
def test_stays_unfolded_and_keeps_the_focus_when_it_refreshes_itself(page):
    danish = page.locator("section[aria-labelledby=dashboard-DKK]")
    danish.get_by_text("All figures").first.click()
    figure = danish.get_by_role("link").nth(1)
    figure.focus()
    refresh(page)
    expect(danish.get_by_role("link").nth(1)).to_be_focused()
    expect(danish.locator("details").first).to_have_attribute("open", "")
    expect(danish.locator("details[open]")).to_have_count(1)


@pytest.mark.sweep
def test_keeps_the_focus_where_a_currency_comes_to_stand_above(page):
    page.evaluate(FIRST_CURRENCY)
    danish = page.locator("section[aria-labelledby=dashboard-DKK]")
    danish.get_by_text("All figures").first.click()
    danish.get_by_role("link").first.focus()
    refresh(page)
    expect(page.locator("section[aria-labelledby=dashboard-SEK]")).to_be_visible()
    expect(danish.get_by_role("link").first).to_be_focused()
    expect(danish.locator("details[open]")).to_have_count(1)


@pytest.mark.sweep
def test_every_chart_has_its_figures_as_a_table_below(page):
    charts = page.locator(".dashboard__charts figure")
    expect(charts.first).to_be_visible()
    for chart in charts.all():
        expect(chart.locator("figcaption")).not_to_be_empty()
        expect(chart.locator("svg").locator("xpath=ancestor::*[@aria-hidden='true']")).to_have_count(1)
        chart.get_by_text("All figures").click()
        expect(chart.get_by_role("row").first).to_be_visible()

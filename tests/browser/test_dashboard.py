"""The dashboard while somebody reads it: it refreshes itself, and keeps the focus and the unfolded parts."""

import pytest
from playwright.sync_api import expect

from tests import played
from tests.browser.at_table import log_in
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

DAYS = "period=own&since=2026-03-27&until=2026-03-31"
A_MINUTE = 61_000  # milliseconds, and one second more


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
    money = page.locator("section[aria-labelledby=dashboard-money]")
    money.get_by_text("Show as a table").nth(1).click()
    figure = money.get_by_role("link").nth(1)
    figure.focus()
    refresh(page)
    expect(money.get_by_role("link").nth(1)).to_be_focused()
    expect(money.locator("figure details").nth(1)).to_have_attribute("open", "")
    expect(money.locator("details[open]")).to_have_count(1)


@pytest.mark.sweep
def test_every_chart_tells_its_values_to_the_pointer_to_keys_and_as_a_table(page):
    charts = page.locator(".dashboard__charts figure")
    expect(charts).to_have_count(2)
    for chart in charts.all():
        plot, reading = chart.locator(".series__plot"), chart.locator(".series__reading")
        last, before_last = (chart.locator(".series__hit").nth(place).get_attribute("data-text") for place in (-1, -2))
        plot.focus()
        page.keyboard.press("ArrowLeft")
        expect(reading).to_have_text(last)
        page.keyboard.press("ArrowLeft")
        expect(reading).to_have_text(before_last)
        chart.locator(".series__hit").nth(1).hover(force=True)
        expect(reading).to_have_text(chart.locator(".series__hit").nth(1).get_attribute("data-text"))
        chart.get_by_text("Show as a table").click()
        expect(chart.get_by_role("row").nth(1)).to_be_visible()

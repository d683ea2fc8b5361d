"""The end of a session in real Chromium: a warning a minute before, then a dialog whose OK leads to the lobby.

The browser's clock is moved for the page, the session's row for the house.
"""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db.models import F
from playwright.sync_api import Page, expect

from players.login import sessions
from players.models import Ended, Session
from tests.browser.at_table import TABLE, a_window, deal, put
from tests.builders import a_player, a_table
from tests.harness.browser import NewContext
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table

pytestmark = pytest.mark.browser

TO_THE_WARNING = timedelta(minutes=8)
WARNING, OVER = "#session-warning", "#session-over"


def solo_table() -> str:
    a_table()
    return TABLE


def live_table() -> str:
    a_live_table()
    return "/en/table/live/real/"


@pytest.fixture
def page(request: pytest.FixtureRequest, web_server: WebServer, new_context: NewContext) -> Iterator[Page]:
    """A table, a solo one unless the test asks for another, open in a window whose clock the test moves."""
    address = getattr(request, "param", solo_table)()
    player = a_player(real=1_000_000)
    window = a_window(new_context, web_server, player)
    opened = window.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.clock.install()
    opened.goto(address)
    yield opened
    assert complaints == []


def milliseconds(time: timedelta) -> int:
    """Return a time span in milliseconds, as the browser's clock counts."""
    return int(time.total_seconds() * 1000)


def pass_time(page: Page, time: timedelta) -> None:
    """Let that much time pass, for the house first, then for the page."""
    Session.objects.update(acted_at=F("acted_at") - time)
    page.clock.fast_forward(milliseconds(time))


def test_the_page_warns_a_minute_before_and_staying_keeps_the_session(page):
    expect(page.locator(WARNING)).to_be_hidden()
    pass_time(page, TO_THE_WARNING + timedelta(seconds=2))
    warning = page.get_by_role("alertdialog", name="Are you still there?")
    expect(warning).to_be_visible()
    expect(page.locator("#session-seconds")).to_have_text(re.compile(r"^\d+$"))
    stay = warning.get_by_role("button", name="Stay logged in")
    expect(stay).to_be_focused()
    stay.click()
    expect(warning).to_be_hidden()
    put(page)
    deal(page)


@pytest.mark.parametrize("page", sweep([solo_table, live_table], always=[live_table]), indirect=True)
def test_nothing_done_for_9_minutes_the_session_closes_and_ok_leads_to_the_lobby(page):
    pass_time(page, TO_THE_WARNING + timedelta(seconds=2))
    expect(page.locator(WARNING)).to_be_visible()
    pass_time(page, timedelta(seconds=70))
    over = page.get_by_role("alertdialog", name="Session timed out")
    expect(over).to_be_visible()
    expect(page.locator(WARNING)).to_be_hidden()
    ok = over.get_by_role("button", name="OK")
    expect(ok).to_be_focused()
    (session,) = Session.objects.all()
    assert session.why == Ended.IDLE
    ok.click()
    page.wait_for_url("**/en/**")
    expect(page.get_by_role("link", name="Log in").first).to_be_visible()
    expect(page.locator(OVER)).to_have_count(0)


@pytest.mark.sweep
def test_escape_leads_to_the_lobby_too(page):
    pass_time(page, timedelta(minutes=10))
    expect(page.locator(OVER)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Log in").first).to_be_visible()


@pytest.mark.sweep
def test_what_another_window_does_keeps_the_session_alive_here(page):
    # For this page alone: the house has seen actions since.
    page.clock.fast_forward(milliseconds(TO_THE_WARNING - timedelta(seconds=1)))
    with page.expect_response(lambda answer: "/session/" in answer.url):
        page.clock.fast_forward(milliseconds(timedelta(seconds=5)))
    expect(page.locator(WARNING)).to_be_hidden()
    expect(page.locator(OVER)).to_be_hidden()


@pytest.mark.sweep
def test_an_action_in_another_window_takes_the_warning_away(page):
    pass_time(page, TO_THE_WARNING + timedelta(seconds=2))
    expect(page.locator(WARNING)).to_be_visible()
    other = page.context.new_page()
    other.goto("/en/history/")
    page.clock.fast_forward(milliseconds(timedelta(seconds=11)))
    expect(page.locator(WARNING)).to_be_hidden()


@pytest.mark.sweep
def test_a_session_ended_elsewhere_is_not_said_to_have_timed_out(page):
    (session,) = Session.objects.all()
    sessions.end(session_id=session.pk, why=Ended.ELSEWHERE, by="player:1")
    page.clock.fast_forward(milliseconds(TO_THE_WARNING + timedelta(seconds=2)))
    expect(page.get_by_role("alertdialog", name="Session ended")).to_be_visible()


@pytest.mark.sweep
def test_the_dialogs_stand_over_what_else_is_open(page):
    page.locator("[data-opens=preferences]:visible").first.click()
    pass_time(page, timedelta(minutes=10))
    ok = page.locator("#session-ok")
    expect(ok).to_be_focused()
    ok.click()
    expect(page.get_by_role("link", name="Log in").first).to_be_visible()

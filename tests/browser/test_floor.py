"""The floor as staff have it open: updated while they watch, without losing their input."""

import re

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, expect

from games.models import LiveTable, Phase, Table
from games.shared import malfunction
from games.shared.pages import stream_tokens
from games.tables.status import pause_table
from players.login import sessions
from players.models import Ended, Staff
from tests.browser.at_table import windows_without_complaint
from tests.builders import a_player, a_table
from tests.harness.browser import DESKTOP, PHONE, NewContext, wait_in
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import a_member_of_staff, a_visitor

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

STREAM = re.compile(f"://[^/]+{stream_tokens.PATH}")
LOST = "Connection lost"


class Floor:
    """The page of a supervisor."""

    def __init__(self, new_context: NewContext, web_server: WebServer, **options: object) -> None:
        self.staff: Staff = a_member_of_staff("supervisor")
        self.window, visitor = new_context(base_url=web_server.url, **options), a_visitor()
        visitor.force_login(self.staff.user)
        cookie = visitor.cookies[settings.SESSION_COOKIE_NAME].value
        self.window.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": web_server.url}])
        self.page: Page = self.window.new_page()

    def open(self, query: str = "") -> Page:
        self.page.goto(f"/staff/floor/{query}")
        return self.page

    def row(self, live_table: LiveTable) -> Locator:
        return self.page.locator(f"#live-{live_table.pk}")

    def unfold(self, live_table: LiveTable, action: str) -> Locator:
        """Unfold a row, and in it one action; return its form."""
        row = self.row(live_table)
        row.locator("summary").first.click()
        fold = row.locator(".staff-actions details", has=self.page.locator("summary", has_text=action))
        fold.locator("summary").click()
        return fold.locator("form")


@pytest.fixture
def live_table(cloned_db: object) -> LiveTable:
    """A shared table that takes bets."""
    return a_live_table()


@pytest.fixture
def floor(live_table: LiveTable, new_context: NewContext, web_server: WebServer) -> Floor:
    return Floor(new_context, web_server)


def test_bets_are_seen_as_they_are_placed_and_the_table_is_closed_in_place(
    live_table: LiveTable, floor: Floor, new_context: NewContext, web_server: WebServer
) -> None:
    page = floor.open()
    row = floor.row(live_table)
    expect(row).to_contain_text("betting open")
    expect(row).not_to_contain_text("At risk")
    with windows_without_complaint(new_context, web_server, a_player(real=1_000_000)) as windows:
        table = windows()
        table.goto("/en/table/live/real/")
        table.locator("#chip-5000").check(force=True)
        table.locator("#bet-player").click()
        expect(row).to_contain_text("1 player")
        expect(row).to_contain_text("At risk")
        expect(row).to_contain_text("SEK 50.00")

    form = floor.unfold(live_table, "Close Live")
    form.get_by_label("Reason").fill("The cloth is torn.")
    form.get_by_role("button").click()
    expect(page.get_by_text("Live: closing; the round in progress is completed first.")).to_be_visible()
    expect(row.locator(".badge")).to_have_text("closing")
    assert not Table.objects.get(pk=live_table.table_id).is_open
    advance_to(live_table, Phase.SETTLED)
    expect(row.locator(".badge")).to_have_text("closed")
    expect(row.locator(".floor-bead")).to_have_count(1)


@pytest.mark.sweep
def test_typed_text_stays_and_nothing_moves_while_the_row_is_pushed_again(live_table: LiveTable, floor: Floor) -> None:
    other = a_live_table("pairs", slug="other")
    page = floor.open()
    order = [row.get_attribute("id") for row in page.locator(".floor-row").all()]
    form = floor.unfold(live_table, "Report round")
    reported = form.get_attribute("action")
    is_over = form.get_by_text("has ended and a new round is in progress")
    expect(is_over).to_be_hidden()
    why = form.get_by_label("Problem")
    why.fill("A card lay")
    bet(a_player(real=1_000_000), live_table, player=5000)
    for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED, Phase.BETTING):
        advance_to(live_table, phase)
    malfunction.report(round_id=round_at(other).pk, cause="A quarrel.", by="staff:1")
    expect(floor.row(live_table).locator(".floor-bead")).to_have_count(1)
    expect(floor.row(other).locator(".badge")).to_have_text("stopped")
    expect(page.locator("#floor-status")).to_contain_text("awaits a ruling")
    expect(why).to_be_focused()
    why.press_sequentially(" face up.")
    expect(why).to_have_value("A card lay face up.")
    assert form.get_attribute("action") == reported  # still the intended round, although another is played
    expect(is_over).to_be_visible()
    assert [row.get_attribute("id") for row in page.locator(".floor-row").all()] == order

    floor.row(live_table).locator("summary").first.click()
    page.evaluate("document.activeElement.blur()")
    pause_table(table_id=live_table.table_id, reason="x", by="staff:1")
    expect(page.locator(".floor-row").first).to_have_id(f"live-{other.pk}")


@pytest.mark.sweep
def test_what_closes_is_chosen_and_said_where_it_is_confirmed(live_table: LiveTable, floor: Floor) -> None:
    a_table()
    page = floor.open()
    page.locator(".floor-links").get_by_role("link", name="Close tables").click()
    choice = page.get_by_label("Tables to close")
    expect(choice).to_be_in_viewport()
    expect(choice).to_have_value("")
    expect(page.get_by_label("I confirm that all selected tables close now.")).to_be_visible()
    choice.select_option("baccarat")
    expect(page.get_by_label("Closing now: Baccarat: 1 table")).to_be_visible()


@pytest.mark.sweep
def test_an_alarm_is_said_once_and_its_link_leads_to_the_row(live_table: LiveTable, floor: Floor) -> None:
    page = floor.open()
    expect(page.locator("#floor-status")).to_be_empty()
    expect(page.locator("#floor-head")).to_contain_text("No alarms.")
    malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
    expect(page.locator("#floor-status")).to_contain_text("Live, real money: Incident")
    page.evaluate("document.getElementById('floor-status').textContent = ''")
    pause_table(table_id=live_table.table_id, reason="x", by="staff:1")
    expect(page.locator(".floor-row").last.locator(".badge")).to_have_text("paused")
    expect(page.locator("#floor-status")).to_be_empty()
    page.locator("#floor-head").get_by_role("link", name="Live, real money").click()
    expect(floor.row(live_table)).to_be_in_viewport()


@pytest.mark.sweep
def test_the_choice_is_kept_in_the_address_and_holds_for_what_is_pushed(live_table: LiveTable, floor: Floor) -> None:
    a_table()
    page = floor.open()
    page.get_by_label("Only tables with alarms").check()
    expect(page).to_have_url(re.compile(r"\?needs=1$"))
    expect(page.locator("#floor-none")).to_be_visible()
    malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
    expect(floor.row(live_table)).to_be_visible()
    expect(page.locator("#floor-none")).to_be_hidden()
    page.reload()
    expect(floor.row(live_table)).to_be_visible()
    assert page.locator(".floor-row:visible").count() == 1
    page.get_by_label("State", exact=True).select_option("paused")
    expect(page.locator("#floor-none")).to_be_visible()


def test_rows_stay_in_the_chosen_order_when_one_is_pushed(live_table: LiveTable, floor: Floor) -> None:
    a_table()
    page = floor.open("?order=name")

    def names() -> list[str]:
        found: list[str] = page.locator(".floor-row").evaluate_all("rows => rows.map((row) => row.dataset.name)")
        return found

    before = names()
    assert before == sorted(before)
    page.get_by_label("Order").select_option("players")
    expect(page).to_have_url(re.compile(r"\?order=players$"))
    assert names() == before  # nobody plays: by name
    malfunction.report(round_id=round_at(live_table).pk, cause="A quarrel.", by="staff:1")
    expect(floor.row(live_table).locator("[data-alarm]")).to_be_visible()
    assert names() == before
    page.get_by_label("Order").select_option("")
    expect(page.locator(".floor-row").first).to_have_id(f"live-{live_table.pk}")
    assert names() != before


@pytest.mark.sweep
def test_where_no_stream_gets_through_the_page_asks(live_table: LiveTable, floor: Floor) -> None:
    floor.page.route(STREAM, lambda route: route.abort())
    floor.open()
    pause_table(table_id=live_table.table_id, reason="x", by="staff:1")
    expect(floor.row(live_table).locator(".badge")).to_have_text("paused")


@pytest.mark.sweep
def test_a_line_that_is_lost_is_said_and_comes_back(live_table: LiveTable, floor: Floor) -> None:
    page = floor.open()
    expect(floor.row(live_table).locator(".badge")).to_have_text("open")
    floor.window.set_offline(True)
    expect(page.locator("#floor-lost")).to_contain_text(LOST)
    pause_table(table_id=live_table.table_id, reason="x", by="staff:1")
    floor.window.set_offline(False)
    expect(page.locator("#floor-lost")).to_be_empty()
    expect(floor.row(live_table).locator(".badge")).to_have_text("paused")


@pytest.mark.sweep
def test_a_session_that_ends_takes_the_floor_away(live_table: LiveTable, floor: Floor) -> None:
    page = floor.open()
    expect(floor.row(live_table)).to_be_visible()
    sessions.end_all(user=floor.staff.user, why=Ended.ELSEWHERE, by=str(floor.staff))
    expect(page.locator("#session-over")).to_be_visible()


@pytest.mark.sweep
def test_without_a_script_it_is_a_page_of_the_current_state(
    live_table: LiveTable, new_context: NewContext, web_server: WebServer
) -> None:
    floor = Floor(new_context, web_server, java_script_enabled=False)
    page = floor.open()
    expect(floor.row(live_table)).to_contain_text("betting open")
    expect(page.get_by_role("link", name="Refresh")).to_be_visible()
    floor.row(live_table).locator("summary").first.click()
    floor.row(live_table).get_by_role("link", name="Open on its own page").click()
    page.locator("summary", has_text="Pause Live").click()
    page.get_by_label("Reason").locator("visible=true").fill("A card is bent.")
    page.get_by_role("button", name="Pause Live").click()
    expect(page.get_by_text("Live: pausing; the round in progress is completed first.")).to_be_visible()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["wide", "phone"])
@pytest.mark.sweep
def test_thirty_tables_are_read_without_scrolling_sideways(
    live_table: LiveTable, new_context: NewContext, web_server: WebServer, viewport: object
) -> None:
    for number in range(14):
        a_live_table(slug=f"table-{number}")
    floor = Floor(new_context, web_server, viewport=viewport)
    page = floor.open()
    expect(page.locator(".floor-row")).to_have_count(30)
    wait_in(page, "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")

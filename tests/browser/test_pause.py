"""A supervisor pauses a shared table in the back office; players there see it without a reload."""

import pytest
from playwright.sync_api import Page, expect

from games.models import LiveTable, Participation, Phase
from games.models import Round as Played
from tests.browser.at_table import log_in, windows_without_complaint
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, round_at, step
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

NOTE = ".live-call__note"
PAUSES = "This table is paused. The next round opens when the table resumes."


def in_the_back_office(new_context: NewContext, web_server: WebServer) -> Page:
    """Return the floor as a supervisor has it."""
    window = new_context(base_url=web_server.url)
    log_in(window, web_server, a_member_of_staff("supervisor").user)
    page = window.new_page()
    page.goto("/staff/floor/")
    return page


def do(staff: Page, label: str, reason: str) -> None:
    row = staff.locator(".floor-row").filter(has_text="real money")
    row.locator("summary").first.click()
    row.locator("summary", has_text=label).click()
    row.locator("details[open] details[open]").get_by_label("Reason").fill(reason)
    row.get_by_role("button", name=label).click()


def deal_to_the_end(live_table: LiveTable) -> None:
    while step(live_table).phase != Phase.SETTLED:
        continue


def test_the_round_is_paid_the_next_one_waits_and_then_opens(new_context: NewContext, web_server: WebServer):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    staff = in_the_back_office(new_context, web_server)
    with windows_without_complaint(new_context, web_server, player) as windows:
        page = windows(viewport=PHONE)
        page.goto("/en/table/live/real/")
        page.locator("#chip-5000").check(force=True)
        page.locator("#bet-player").click()
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")

        do(staff, "Pause Live", "A card is bent.")
        expect(page.locator(NOTE, has_text="The table pauses after this round.")).to_be_visible()
        expect(page.locator("#bet-player")).not_to_have_attribute("aria-disabled", "true")

        deal_to_the_end(live_table)
        paid = Participation.objects.get(player=player)
        expect(page.locator(NOTE, has_text=PAUSES)).to_be_visible()
        expect(page.locator(".live-mine__last a")).to_have_attribute("href", f"/en/history/{paid.round_id}/")
        expect(page.locator("[data-seconds]")).to_have_count(0)
        expect(page.locator("#act-rebet")).to_have_attribute("aria-disabled", "true")
        expect(page.locator("#bet-player")).to_have_attribute("aria-disabled", "true")
        assert PAUSES in page.locator("#spoken p").all_inner_texts()

        do(staff, "Resume Live", "A new deck is on the table.")
        expect(page.locator(NOTE, has_text=PAUSES)).to_have_count(0)
        step(live_table)
        expect(page.locator(".live-call__what")).to_have_text("Place your bets")
        page.locator("#act-rebet").click()
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")
        assert round_at(live_table).phase == Phase.BETTING
        assert Played.objects.count() == 1

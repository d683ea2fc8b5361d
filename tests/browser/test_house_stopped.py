"""A supervisor stops the whole house while somebody plays at a shared table: the words in the middle say so
at once and bets can only be removed, open bets are dealt and paid, and play continues when the house does.
"""

import pytest
from playwright.sync_api import Page, expect

from games.models import Participation, Phase
from tests.browser.at_table import log_in, windows_without_complaint
from tests.browser.test_every_page import expect_none, faults_of_sizes, faults_of_themes
from tests.browser.test_pause import deal_to_the_end
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, round_at, step
from tests.live.betting import balance, held
from tests.people import a_member_of_staff

pytestmark = pytest.mark.browser

MONEY = 1_000_000
CHIP = 50_00
STOPPED = "Play is stopped"


def in_the_back_office(new_context: NewContext, web_server: WebServer) -> Page:
    window = new_context(base_url=web_server.url, reduced_motion="reduce")
    log_in(window, web_server, a_member_of_staff("supervisor").user)
    page = window.new_page()
    page.goto("/staff/stop/")
    return page


def do(staff: Page, button: str, reason: str) -> None:
    staff.get_by_role("textbox", name="Reason").fill(reason)
    staff.get_by_role("checkbox").check()
    staff.get_by_role("button", name=button).click()


@pytest.mark.sweep
def test_a_chip_is_refused_the_round_is_paid_and_play_goes_on(new_context: NewContext, web_server: WebServer):
    live_table, player = a_live_table(), a_player(real=MONEY)
    staff = in_the_back_office(new_context, web_server)
    with windows_without_complaint(new_context, web_server, player) as windows:
        page = windows(viewport=PHONE)
        page.goto("/en/table/live/real/")
        page.locator(f"#chip-{CHIP}").check(force=True)
        page.locator("#bet-player").click()
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")

        do(staff, "Start house stop", "The authority called.")
        expect(staff.get_by_text("End house stop").first).to_be_visible()
        expect_none(faults_of_themes(staff))
        expect_none(faults_of_sizes(staff, ("wide", "phone")))
        expect(page.locator(".live-call__what")).to_have_text(STOPPED)
        expect(page.locator(".live-public [data-seconds]")).to_have_count(0)
        for added in ("#bet-player", "#act-double", "#act-rebet"):
            expect(page.locator(added)).to_have_attribute("aria-disabled", "true")
        expect(page.locator("#act-undo")).not_to_have_attribute("aria-disabled", "true")
        page.locator("#bet-player").click(force=True)
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")
        assert held(player) == CHIP

        deal_to_the_end(live_table)
        part = Participation.objects.get(player=player)
        assert (part.staked, balance(player)) == (CHIP, MONEY - CHIP + part.paid)
        expect(page.locator(".live-call__what")).to_have_text(STOPPED)
        expect(page.locator("#act-rebet")).to_have_attribute("aria-disabled", "true")

        do(staff, "End house stop", "All is well.")
        expect(staff.get_by_text("No house stop is in force.")).to_be_visible()
        step(live_table)
        page.locator("#act-rebet").click()
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")
        assert (round_at(live_table).phase, held(player)) == (Phase.BETTING, CHIP)

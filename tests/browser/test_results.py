"""The results of a shared table in real Chromium: the board that grows with each round, one's own bets, and a round in
sum, for two readers in two languages.
"""

import re

import pytest
from playwright.sync_api import Page, Request, expect

from games.models import Phase
from games.shared import malfunction
from tests.browser.at_table import windows_without_complaint
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import advance_to, bet, round_at, step
from tests.live.so_far import a_played_table

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 1_000_000
TOP = "() => document.getElementById('bet-player').getBoundingClientRect().top + scrollY"


def opened(page: Page, language: str) -> Page:
    page.goto(f"/{language}/table/live/real/")
    expect(page.locator("#live-public")).to_have_attribute("data-phase", "betting")
    return page


@pytest.mark.sweep
def test_each_round_is_shown_on_the_board_and_summed_up_at_its_end(new_context: NewContext, web_server: WebServer):
    live_table = a_played_table(3)
    swede, dane, third = a_player(real=MONEY), a_player("DK", real=MONEY), a_player(real=MONEY)
    with (
        windows_without_complaint(new_context, web_server, swede) as wide,
        windows_without_complaint(new_context, web_server, dane) as narrow,
    ):
        first, second = opened(wide(), "en"), opened(narrow(viewport=PHONE), "da")
        asked: list[str] = []

        def note(request: Request) -> None:
            if "/statistics/" in request.url:
                asked.append(request.url)

        first.on("request", note)
        second.on("request", note)
        expect(first.locator(".board__shoe")).to_have_text("Shoe 1 · 3 rounds")
        first.locator("#own-bets").scroll_into_view_if_needed()
        expect(first.locator(".own-bets__none")).to_contain_text("None of your bets")
        assert len(asked) == 1
        for player in (swede, dane, third):
            bet(player, live_table, player=25_000, banker=25_000, tie=5_000)
        key = first.locator("#live-board").get_attribute("data-key") or ""
        for phase in (Phase.CLOSED, Phase.DEALT):
            assert step(live_table).phase == phase
            expect(first.locator("#live-public")).to_have_attribute("data-phase", phase)
            assert first.locator("#live-board").get_attribute("data-key") == key
        assert step(live_table).phase == Phase.SETTLED
        expect(first.locator(".board__shoe")).to_have_text("Shoe 1 · 4 rounds")
        expect(first.locator(".live-mine__what")).to_have_text(re.compile("^You (won|lost|came out)"))
        expect(first.locator(".live-call__counts")).to_have_text(
            re.compile("^3 people: [03] won, [03] broke even, [03] lost$")
        )
        expect(first.locator("#own-bets .chart__pie")).to_be_visible()
        expect(first.locator("#own-bets th[scope=row]")).to_have_text(["Player", "Banker", "Tie"])
        assert len(asked) == 2

        expect(second.locator(".live-mine__what")).to_have_text(re.compile("^Du (vandt|tabte|gik i nul)"))
        expect(second.locator(".live-call__counts")).to_contain_text("3 personer: ")
        second.locator("#tab-statistics").click()
        expect(second.locator(".board__shoe")).to_have_text("Sko 1 · 4 runder")
        expect(second.locator("#live-board .chart__pie svg path").first).to_be_visible()
        second.locator("#sheet-close").click()

        advance_to(live_table, Phase.BETTING)
        for page in (first, second):
            expect(page.locator("#live-public")).to_have_attribute("data-phase", "betting")
            expect(page.locator(".live-mine__what")).to_have_count(0)
            expect(page.locator(".live-mine__last")).to_be_visible()


@pytest.mark.sweep
def test_a_refusal_disappears_when_betting_begins_again_and_a_stop_moves_nothing(
    new_context: NewContext, web_server: WebServer
):
    live_table = a_played_table(1)
    with windows_without_complaint(new_context, web_server, a_player(real=MONEY)) as window:
        page = opened(window(viewport=PHONE), "de")
        top = page.evaluate(TOP)
        page.locator(".tray__chip input").last.check(force=True)
        page.locator("#bet-banker").click()
        expect(page.locator(".live-mine .call__notice--error")).to_be_visible()
        before = page.locator("#live-public").get_attribute("data-deadline") or ""
        assert step(live_table).phase == Phase.BETTING  # nobody has bet: the same round, and all of its time again
        expect(page.locator("#live-public")).not_to_have_attribute("data-deadline", before)
        expect(page.locator(".call__notice")).to_have_count(0)
        expect(page.locator(".live-mine__last")).to_be_visible()
        malfunction.report(round_id=round_at(live_table).pk, cause="A card lay face up.", by="staff:test")
        expect(page.locator("#live-public")).to_have_attribute("data-phase", "stopped")
        assert page.evaluate(TOP) == top

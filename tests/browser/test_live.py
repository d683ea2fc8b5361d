"""Two browsers at one shared table: each in its own language and money, both shown the same; one cut off, and back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from games.engine.cards import Card
from games.engine.coup import deal
from games.models import LiveRound, LiveTable, Participation, Phase
from tests.browser.at_table import a_window, windows_without_complaint
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.owner import update_as_owner
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, round_at, slip_of, step

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]


def opened(open_page: Opener, language: str, **options: object) -> Page:
    page = open_page(**options)
    page.goto(f"/{language}/table/live/real/")
    return page


def choose(page: Page, chip: int) -> None:
    """Choose the chip of this value in minor units."""
    page.locator(f"#chip-{chip}").check(force=True)


def put(page: Page, bet: str, amount: str) -> None:
    """Put the chosen chip on a bet and wait until the house has it."""
    page.locator(f"#bet-{bet}").click()
    expect(page.locator(f"#bet-{bet} .spot__stake")).to_contain_text(amount)


def turn_up_everything(live_table: LiveTable) -> None:
    """Move the start of the deal back until all its cards are face up, and notify the pages."""
    live_round = round_at(live_table)
    assert live_round.dealt_at
    long_ago = live_round.dealt_at - (live_round.deadline - live_round.dealt_at)
    update_as_owner(LiveRound.objects.filter(pk=live_round.pk), dealt_at=long_ago)
    step(live_table)


def test_two_players_bet_in_their_own_language_and_money_and_see_the_same_cards(
    new_context: NewContext, web_server: WebServer
):
    live_table = a_live_table()
    swede, german = a_player(real=1_000_000), a_player("DE", real=50_000)
    with (
        windows_without_complaint(new_context, web_server, swede) as swedish,
        windows_without_complaint(new_context, web_server, german) as german_one,
    ):
        first, second = opened(swedish, "sv"), opened(german_one, "de", viewport=PHONE)
        expect(first.locator(".live-call__what")).to_have_text("Placera dina insatser")
        choose(first, 5_000)
        put(first, "tie", "50,00")
        choose(first, 25_000)
        put(first, "player", "250,00")
        choose(second, 500)
        put(second, "banker", "5,00")
        assert slip_of(swede, round_at(live_table)) == {"tie": 5_000, "player": 25_000}
        assert slip_of(german, round_at(live_table)) == {"banker": 500}

        step(live_table)
        expect(first.locator(".live-call__what")).to_have_text("Inga fler insatser No more bets")
        expect(second.locator(".live-call__what")).to_have_text("Nichts geht mehr No more bets")
        expect(second.locator("#bet-player")).to_have_attribute("aria-disabled", "true")

        step(live_table)
        for page in (first, second):
            expect(page.locator(".live-stage .card")).to_have_count(1)
        turn_up_everything(live_table)
        coup = deal(Card.parse(code) for code in round_at(live_table).cards.split())
        cards = len(coup.cards)
        alike = cards - len(set(coup.player)) - len(set(coup.banker))  # of eight decks, one hand may hold two
        for page, player in ((first, swede), (second, german)):
            expect(page.locator(".live-stage .card")).to_have_count(cards)
            part = Participation.objects.get(player=player)
            expect(page.locator(".live-mine__last a")).to_have_attribute(
                "href", f"/{language_of(page)}/history/{part.round_id}/"
            )
            stated = page.locator("#spoken p").all_inner_texts()
            assert len(stated) == len(set(stated)) + alike
            assert page.locator(".live-mine__what").inner_text() in stated[-1]
            assert page.locator(".live-mine__last").inner_text()[:20] in stated[-1]

        became = str(first.locator(".live-mine__sum").get_attribute("data-say"))
        step(live_table)
        expect(first.locator(".live-call__what")).to_have_text("Placera dina insatser")
        first.locator("#act-rebet").click()
        expect(first.locator("#bet-player .spot__stake")).to_contain_text("250,00")
        stated = first.locator("#spoken p").all_inner_texts()
        assert stated.count(became) == 1
        assert not [line for line in stated if " 0,00" in line]


def test_who_loses_the_line_comes_back_to_the_table_as_it_is_and_the_bets_were_played(
    new_context: NewContext, web_server: WebServer
):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    german = a_player("DE", real=50_000)
    window = windows_without_complaint(new_context, web_server, german)
    with window as open_other:
        watching = opened(open_other, "de")
        choose(watching, 500)
        put(watching, "banker", "5,00")
        context = a_window(new_context, web_server, player)
        page = context.new_page()
        page.goto("/en/table/live/real/")
        choose(page, 5_000)
        put(page, "player", "50.00")

        context.set_offline(True)
        expect(page.locator("#live-lost")).not_to_be_empty()
        step(live_table)
        step(live_table)
        expect(watching.locator(".live-stage .card")).to_have_count(1)
        expect(page.locator(".live-stage .card")).to_have_count(0)
        turn_up_everything(live_table)
        assert round_at(live_table).phase == Phase.SETTLED

        context.set_offline(False)
        expect(page.locator("#live-lost")).to_be_empty()
        for each in (page, watching):
            expect(each.locator(".live-stage .card")).to_have_count(len(round_at(live_table).cards.split()))
        expect(page.locator(".live-mine__last")).to_contain_text("Staked SEK\xa050.00")
        assert Participation.objects.get(player=player).staked == 5_000
        assert Participation.objects.get(player=german).staked == 500


@pytest.mark.sweep
def test_clicks_that_come_faster_than_answers_all_count(new_context: NewContext, web_server: WebServer):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player) as open_page:
        page = opened(open_page, "en")
        choose(page, 5_000)
        page.evaluate("for (let i = 0; i < 5; i++) document.querySelector('#bet-tie').click()")
        expect(page.locator("#bet-tie .spot__stake")).to_contain_text("250.00")
        page.keyboard.press("u")
        expect(page.locator("#bet-tie .spot__stake")).to_contain_text("200.00")
        assert slip_of(player, round_at(live_table)) == {"tie": 20_000}


def language_of(page: Page) -> str:
    return str(page.locator("html").get_attribute("lang"))

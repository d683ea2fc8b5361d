"""The table page over Django's test client: answers to clicks, with htmx and without."""

import re
from html import unescape

import pytest
from django.test import Client

from games.engine.coup import deal as hands
from games.engine.shoe import shuffle
from games.models import Participation, Round, SoloSeat
from games.tables.status import close_table
from tests.builders import a_player, a_seat, a_table
from tests.games.at_pages import MONEY, click
from tests.harness.sweeps import sample
from wallet.money import format_money


@pytest.fixture
def player(db):
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def table(db):
    return a_table()


@pytest.fixture
def visitor(player) -> Client:
    client = Client()
    client.force_login(player.user)
    return client


@pytest.mark.parametrize("mode", sample(["real", "free"], 1))
def test_a_whole_round_by_htmx_is_fragments_only(visitor, player, table, mode):
    visitor.get(f"/en/table/baccarat/{mode}/")
    answer = click(visitor, player, "bet:player", mode=mode)
    assert answer.status_code == 200
    assert "<html" not in answer.text
    assert answer.text.lstrip().startswith('<section class="game')
    answer = click(visitor, player, "deal", mode=mode)
    part = Participation.objects.get()
    assert part.mode == ("R" if mode == "real" else "F")
    assert part.round.code in answer.text
    assert format_money(part.balance_after, "SEK", "en") in answer.text


def test_every_button_works_without_javascript(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    for action in (
        "bet:player",
        "bet:tie",
        "double",
        "undo",
        "clear",
        "undo",
        "deal",
        "rebet",
        "double_deal",
        "rebet_deal",
    ):
        answer = click(visitor, player, action, htmx=False)
        assert (answer.status_code, answer["Location"]) == (302, "/en/table/baccarat/real/")
    assert [part.staked for part in Participation.objects.order_by("id")] == [2000, 4000, 4000]


@pytest.mark.sweep
def test_without_javascript_a_refusal_waits_for_the_page_and_is_said_once(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "deal", htmx=False)
    assert "Place a bet first" in visitor.get("/en/table/baccarat/real/").text
    assert "Place a bet first" not in visitor.get("/en/table/baccarat/real/").text


@pytest.mark.sweep
def test_a_reload_shows_the_bets_and_another_tab_shows_the_same(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:player", chip=5000)
    for _ in range(2):
        page = visitor.get("/en/table/baccarat/real/").text
        assert format_money(5000, "SEK", "en") in page
        assert format_money(MONEY - 5000, "SEK", "en") in page


def test_the_same_click_again_shows_the_same_round(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:banker")
    seat = SoloSeat.objects.get()
    same = {"round_id": seat.round_id, "slip_version": seat.slip_version}
    click(visitor, player, "deal", **same)
    again = click(visitor, player, "deal", **same)
    assert Round.objects.get().code in again.text
    assert "already been played" in again.text


class TestTheValueOfThePlayer:
    @pytest.mark.sweep
    @pytest.mark.parametrize("htmx", sample([True, False], 1))
    def test_is_mixed_in_as_it_was_sent_and_is_not_kept_for_the_next_round(self, visitor, player, table, htmx):
        visitor.get("/en/table/baccarat/real/")
        for value in ('0123456789abcdef0123456789abcdef blåbär "< ', ""):
            click(visitor, player, "bet:tie", htmx=htmx, player_value="not yet")
            click(visitor, player, "deal", htmx=htmx, player_value=value)
            played = Round.objects.latest("at")
            assert played.player_value == value
            cards = hands(shuffle(bytes(played.seed or b""), 1, value)).cards
            assert played.cards == " ".join(card.code for card in cards)
            assert 'name="player_value" maxlength' in visitor.get("/en/table/baccarat/real/").text, "an empty field"

    @pytest.mark.sweep
    def test_comes_with_the_page_of_its_round_to_be_verified(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        answer = click(visitor, player, "deal", player_value="mine").text
        played = Round.objects.get()
        said = f'data-round="{played.pk}" data-seed="{bytes(played.seed or b"").hex()}" data-value="mine"'
        assert said in answer
        assert said in visitor.get("/en/table/baccarat/real/").text

    @pytest.mark.sweep
    def test_enter_in_its_field_does_nothing(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        before = SoloSeat.objects.values().get()
        answer = click(visitor, player, "keep", player_value="mine")
        assert "call__notice" not in answer.text
        assert SoloSeat.objects.values().get() == before


@pytest.mark.sweep
def test_the_button_that_enter_presses_is_the_first_of_the_form(visitor, player, table):
    page = visitor.get("/en/table/baccarat/real/").text
    form = page.partition('id="slip"')[2]
    assert re.findall(r'<button[^>]* value="([^"]*)"', form)[0] == "keep"


class TestAClosedTable:
    def closed(self, table) -> None:
        close_table(table_id=table.pk, reason="test", by="staff:1")

    def disabled(self, page: str) -> set[str]:
        return set(re.findall(r'<button[^>]*id="([^"]*)"[^>]*aria-disabled="true"', page))

    @pytest.mark.sweep
    def test_says_so_quietly_and_offers_no_bets(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        self.closed(table)
        page = visitor.get("/en/table/baccarat/real/").text
        assert 'role="status"><p>This table is closed. You can remove the bets you have on it.</p>' in page
        assert re.search(
            r'class="call__notice[^>]*><p>[^<]*</p><a class="button" href="/en/">Go to the tables</a>', page
        )
        assert "badge--off" in page
        assert self.disabled(page) >= {"bet-player", "bet-tie", "bet-banker", "act-deal", "act-double"}
        assert not self.disabled(page) & {"act-undo", "act-clear"}

    @pytest.mark.sweep
    def test_is_marked_as_closed_by_the_answer_to_a_click(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        assert "badge--off" not in click(visitor, player, "bet:tie").text
        self.closed(table)
        answer = click(visitor, player, "bet:tie").text
        assert "badge--off" in answer.partition('id="table-state" hx-swap-oob="true"')[2]

    @pytest.mark.sweep
    @pytest.mark.parametrize("action", sample(["undo", "clear"], 1))
    def test_lets_bets_go(self, visitor, player, table, action):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        self.closed(table)
        click(visitor, player, action)
        assert SoloSeat.objects.get().slip == {}

    @pytest.mark.sweep
    def test_takes_none_by_undoing_either(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        self.closed(table)
        click(visitor, player, "clear")
        for action in ("undo", "bet:tie", "rebet", "deal"):
            click(visitor, player, action)
            assert SoloSeat.objects.get().slip == {}
        assert not Round.objects.exists()


def test_gli19_4_3_4_funds_every_wager_and_the_last_result_are_in_view(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:player")
    laid = click(visitor, player, "bet:tie").text
    for page in (laid, visitor.get("/en/table/baccarat/real/").text):
        assert format_money(MONEY - 2000, "SEK", "en") in meter(page, "balance")
        assert format_money(2000, "SEK", "en") in meter(page, "bet")
        for bet in ("player", "tie"):
            assert format_money(1000, "SEK", "en") in spot(page, bet)
        assert "your bet" not in spot(page, "banker")
    click(visitor, player, "deal")
    after, part = visitor.get("/en/table/baccarat/real/").text, Participation.objects.get()
    assert format_money(part.balance_after, "SEK", "en") in meter(after, "balance")
    assert format_money(part.paid, "SEK", "en") in meter(after, "win")
    assert format_money(part.staked, "SEK", "en") in meter(after, "bet")
    assert part.round.code in after
    for wager in part.wagers.all():
        assert format_money(wager.stake, "SEK", "en") in spot(after, wager.bet)
        assert f"spot__bet--{wager.result}" in spot(after, wager.bet)


def meter(page: str, name: str) -> str:
    """Return one of the amounts below the table."""
    return unescape(page).partition(f'class="meter meter--{name}"')[2].partition("</p>")[0]


def spot(page: str, bet: str) -> str:
    """Return one of the bets on the table."""
    return unescape(page).partition(f'value="bet:{bet}"')[2].partition("</button>")[0]


@pytest.mark.sweep
def test_the_meters_agree_with_what_deal_would_do(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:tie")
    after_round = click(visitor, player, "deal").text
    assert "Last bet" in after_round
    click(visitor, player, "bet:tie")
    cleared = click(visitor, player, "clear").text
    assert "Last bet" not in cleared
    assert re.search(r'meter--bet".*?<b[^>]*>SEK\s0\.00</b>', cleared, re.DOTALL)
    assert "spot__bet" not in cleared
    assert "spot__lit" not in cleared


def test_the_seed_of_the_next_round_is_nowhere_on_the_page(visitor, player, table):
    page = visitor.get("/en/table/baccarat/real/").text
    seat = a_seat(player, table)
    assert seat.commitment in page
    assert bytes(seat.sealed_seed).hex() not in page

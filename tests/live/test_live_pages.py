"""The page of a shared table: answers to clicks, and the content at each moment."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from games.models import LiveSeat, LiveTable, Phase
from games.tables.status import close_table
from players import rates
from players.models import Player, Session
from tests.builders import a_player, a_shared_table, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, live_table_of, round_at, slip_of, step
from wallet.models import Account, AccountKind, Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
TABLE = "/en/table/live/real/"


def visitor_of(player: Player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


def click(visitor: Client, live_table: LiveTable, action: str, /, *, htmx: bool = True, **changes: object) -> Any:
    """Press a button of the page in its current state."""
    form = {"round_id": round_at(live_table).pk, "table_version": 1, "chip": 25_000, "action": action} | changes
    return visitor.post(f"{TABLE}bet/", form, headers={"HX-Request": "true"} if htmx else {})


def held(player: Player) -> int:
    return Account.objects.get(owner=player, kind=AccountKind.CASH, mode=Mode.REAL).held


def spot(html: str, bet: str) -> str:
    """Return the bet area of the page."""
    cut = html[html.index(f'id="bet-{bet}"') :]
    return cut[: cut.index("</button>")]


def test_a_click_answers_with_the_chip_on_its_bet_and_the_balance_less_by_it():
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    visitor.get(TABLE)
    answer = click(visitor, live_table, "bet:player")
    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<div class="live-own"')
    assert "250.00" in spot(answer.text, "player")
    assert "9,750.00" in answer.text
    assert "live-public" not in answer.text
    assert held(player) == 25_000


@pytest.mark.sweep
def test_a_page_that_asks_is_brought_the_board_where_it_shows_another_one():
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    bet(player, live_table, banker=50_00)
    key = re.search(r'id="live-board" data-key="(\w+)"', visitor.get(TABLE).text)
    assert key
    assert "live-board" not in visitor.get(f"{TABLE}now/", {"board": key[1]}).text
    advance_to(live_table, Phase.CLOSED)
    assert "live-board" not in visitor.get(f"{TABLE}now/", {"board": key[1]}).text
    answer = visitor.get(f"{TABLE}now/", {"board": "another"}).text
    assert f'id="live-board" data-key="{key[1]}"' in answer
    assert answer.index("</section>") < answer.index("live-board")
    assert "live-board" not in visitor.get(f"{TABLE}now/").text


@pytest.mark.sweep
def test_every_bet_is_there_with_what_it_pays_and_its_limits():
    live_table = a_live_table()
    page = visitor_of(a_player(real=MONEY)).get(TABLE).text
    for rule in round_at(live_table).version.limits["SEK"]["bets"]:
        assert "pays" in spot(page, rule)
        assert "limits" in spot(page, rule)


def test_a_click_for_the_round_before_lands_in_none():
    live_table, player = a_live_table(), a_player(real=MONEY)
    bet(player, live_table, player=25_000)
    before = round_at(live_table).pk
    advance_to(live_table, Phase.BETTING)
    answer = click(visitor_of(player), live_table, "bet:player", round_id=before)
    assert "Bet received too late" in answer.text
    assert not LiveSeat.objects.filter(round_id=round_at(live_table).pk).exists()


@pytest.mark.parametrize(
    "wrong", sample([{"action": "deal"}, {"round_id": "x"}, {"chip": "-1"}, {"table_version": ""}], 1)
)
def test_what_no_page_sends_is_answered_as_an_old_page(wrong):
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    visitor.get(TABLE)
    answer = click(visitor, live_table, "bet:player", **wrong)
    assert answer.status_code == 200
    assert "This page was out of date and has been updated." in answer.text
    assert held(player) == 0


@pytest.mark.sweep
def test_without_a_script_a_click_leads_back_to_the_table_which_says_why_once():
    live_table, player = a_live_table(), a_player(real=10_000)
    visitor = visitor_of(player)
    page = visitor.get(TABLE).text
    assert 'name="csrfmiddlewaretoken"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    answer = click(visitor, live_table, "bet:player", htmx=False)
    assert (answer.status_code, answer.url) == (302, TABLE)
    assert "Insufficient balance" in visitor.get(TABLE).text
    assert "Insufficient balance" not in visitor.get(TABLE).text


def test_undo_double_and_rebet_do_what_they_say():
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    visitor.get(TABLE)
    for action, staked in (("bet:player", 25_000), ("double", 50_000), ("undo", 25_000)):
        click(visitor, live_table, action)
        assert slip_of(player, round_at(live_table)) == {"player": staked}
    advance_to(live_table, Phase.BETTING)
    click(visitor, live_table, "rebet")
    assert slip_of(player, round_at(live_table)) == {"player": 25_000}


@pytest.mark.sweep
def test_outside_betting_the_bets_stand_there_and_take_nothing():
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    assert 'aria-disabled="true"' not in spot(visitor.get(TABLE).text, "tie")
    bet(player, live_table, player=25_000)
    advance_to(live_table, Phase.CLOSED)
    page = visitor.get(TABLE).text
    assert 'aria-disabled="true"' in spot(page, "tie")
    assert "250.00" in spot(page, "player")


@pytest.mark.sweep
def test_a_player_who_joins_in_the_middle_of_a_round_is_asked_to_wait_for_the_next():
    live_table = a_live_table()
    early = a_player(real=MONEY)
    bet(early, live_table, player=25_000)
    advance_to(live_table, Phase.CLOSED)
    waits = "You can bet when the next round opens."
    assert waits in visitor_of(a_player(real=MONEY)).get(TABLE).text
    assert waits not in visitor_of(early).get(TABLE).text


@pytest.mark.sweep
def test_the_result_of_the_bets_stays_until_the_next_bet():
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    bet(player, live_table, player=25_000, banker=25_000)
    advance_to(live_table, Phase.SETTLED)
    assert "Staked SEK\xa0500.00" in visitor.get(TABLE).text
    step(live_table)
    page = visitor.get(TABLE).text
    assert "Staked SEK\xa0500.00" in page
    assert 'class="spot__bet' not in page
    assert "Staked" not in click(visitor, live_table, "bet:tie").text


@pytest.mark.sweep
def test_balance_clock_and_the_code_of_the_round_are_always_there():
    live_table = a_live_table()
    visitor = visitor_of(a_player(real=MONEY))
    bet(a_player(real=MONEY), live_table, player=25_000)
    for phase in (Phase.BETTING, Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
        if phase is not Phase.BETTING:
            advance_to(live_table, phase)
        page = visitor.get(TABLE).text
        corner = page[page.index('class="live-corner"') :]
        assert "10,000.00" in corner
        assert round_at(live_table).code in corner
        assert 'data-zone="Europe/Stockholm"' in corner


def test_what_a_page_asks_for_by_itself_is_the_table_and_no_action():
    live_table, player = a_live_table(), a_player(real=MONEY)
    visitor = visitor_of(player)
    visitor.get(TABLE)
    acted = Session.objects.get(user=player.user).acted_at - timedelta(minutes=5)
    Session.objects.filter(user=player.user).update(acted_at=acted)
    answer = visitor.get(f"{TABLE}now/")
    assert answer.status_code == 200
    assert answer.text.count('id="live-public"') == answer.text.count('id="live-own"') == 1
    assert 'data-stream="/live/' in answer.text
    assert "no-store" in answer["Cache-Control"]
    by_itself = re.search(r'<noscript><meta http-equiv="refresh" content="5; url=([^"]+)">', visitor.get(TABLE).text)
    Session.objects.filter(user=player.user).update(acted_at=acted)
    assert by_itself
    assert "<html" in visitor.get(by_itself[1]).text
    assert Session.objects.get(user=player.user).acted_at == acted
    click(visitor, live_table, "bet:player")
    assert Session.objects.get(user=player.user).acted_at > acted


def test_each_shape_of_table_answers_its_own_clicks_only():
    a_live_table()
    a_table()
    visitor = visitor_of(a_player(real=MONEY))
    assert visitor.post("/en/table/live/real/play/", {"action": "deal"}).status_code == 404
    assert visitor.post("/en/table/baccarat/real/bet/", {"action": "bet:player"}).status_code == 404
    assert visitor.get("/en/table/baccarat/real/now/").status_code == 404


@pytest.mark.sweep
def test_real_and_free_players_see_tables_apart():
    table = a_shared_table()
    for mode in Mode:
        step_to_betting = live_table_of(table, mode)
        assert step(step_to_betting).phase == Phase.BETTING
    visitor = visitor_of(a_player(real=MONEY, free=MONEY))
    codes = [round_at(live_table_of(table, mode)).code for mode in Mode]
    pages = [visitor.get(f"/en/table/live/{word}/").text for word in ("real", "free")]
    assert [[code in page for code in codes] for page in pages] == [[True, False], [False, True]]


@pytest.mark.sweep
def test_a_table_with_no_round_yet_says_that_it_opens():
    a_shared_table()
    page = visitor_of(a_player(real=MONEY)).get(TABLE).text
    assert "The table opens in a moment" in page
    assert 'aria-disabled="true"' in spot(page, "player")


@pytest.mark.sweep
def test_a_closed_table_can_be_watched():
    live_table = a_live_table()
    close_table(table_id=live_table.table_id, reason="for a test", by="staff:test")
    step(live_table)
    assert "The table is closed" in visitor_of(a_player(real=MONEY)).get(TABLE).text


@pytest.mark.sweep
def test_the_lobby_shows_shared_tables_with_their_limits_and_offers_none_to_players():
    a_live_table()
    lobby = Client().get("/en/").text
    card = lobby[lobby.index('class="table-card') :]
    assert "With other players" in card
    assert "/en/demo/live/" not in lobby
    assert Client().get("/en/demo/live/").status_code == 404
    assert "SEK\xa050 – SEK\xa0200,000" in visitor_of(a_player(real=MONEY)).get("/en/").text


class TestWatching:
    WATCH = f"{TABLE}watch/"

    def test_more_than_a_room_of_visitors_asks_for_from_one_address_is_refused_for_a_while(self, monkeypatch):
        monkeypatch.setattr(rates, "WATCHED", 2)
        a_live_table()
        with time_machine.travel(datetime(2031, 5, 1, 12, 0, 15, tzinfo=UTC), tick=False) as clock:
            answers = [Client().get(self.WATCH, {"board": "x"}) for _ in range(3)]
            assert [answer.status_code for answer in answers] == [200, 200, 429]
            assert answers[-1]["Retry-After"] == "45"
            assert answers[-1]["Cache-Control"] == "no-store, private"
            assert Client().get(self.WATCH, REMOTE_ADDR="198.51.100.7").status_code == 200
            clock.shift(45)
            assert Client().get(self.WATCH).status_code == 200

    def test_a_cache_keeps_the_public_part_for_a_second_and_nothing_of_a_reader(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, player=25_000)
        asked = {"board": "another"}
        parts = [Client().get(self.WATCH, asked, headers={"Accept-Language": to}) for to in ("sv", "de")]
        for part in parts:
            assert part["Cache-Control"] == "public, max-age=1"
            assert "Cookie" in part["Vary"]
            assert not part.cookies
            assert "csrf" not in part.text
            assert 'id="live-public"' in part.text
            assert 'id="live-board"' in part.text
        assert "no-store" in Client().get(self.WATCH)["Cache-Control"]
        led = visitor_of(player).get(self.WATCH, asked)
        assert (led.status_code, led["Cache-Control"]) == (302, "no-store, private")

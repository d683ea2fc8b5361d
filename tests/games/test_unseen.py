"""A round whose answer was lost is complete, and its result is shown to the player exactly once."""

from html import unescape

import pytest
from django.test import Client
from django.utils import translation

from games.models import Participation, SoloSeat
from tests.builders import a_player, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from tests.voiding import void_unreproduced
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.money import format_money

MONEY = 1_000_000
AWAY = "was completed while you were away"
TABLE = "/en/table/baccarat/real/"
LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def player(db):
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def table(db):
    return a_table()


def a_window(player) -> Client:
    """Return a new browser in which the player is logged in."""
    window = Client()
    window.force_login(player.user)
    return window


@pytest.fixture
def visitor(player) -> Client:
    return a_window(player)


def click(visitor: Client, action: str, *, htmx: bool = True):
    seat = SoloSeat.objects.get(mode="R")
    form = {
        "action": action,
        "round_id": seat.round_id,
        "slip_version": seat.slip_version,
        "table_version": 1,
        "chip": 1000,
    }
    return visitor.post(f"{TABLE}play/", form, headers={"HX-Request": "true"} if htmx else {})


def lose_the_answer_of(player, table):
    """Deal a round from a browser that never gets the answer."""
    return a_round(player, table, player=1000).round_id


@pytest.mark.parametrize("where", sample([TABLE, "/en/"], 1))
def test_gli19_4_16_a_lost_answer_is_reported_once(visitor, player, table, where):
    round_id = lose_the_answer_of(player, table)
    part = Participation.objects.get()
    first = unescape(visitor.get(where).text)
    assert first.count(AWAY) == 1
    assert f"/en/history/{round_id}/" in first
    if part.paid:
        assert f"Paid out: {format_money(part.paid, 'SEK', 'en')}" in first
    for again in (TABLE, "/en/", "/en/history/"):
        assert AWAY not in visitor.get(again).text
    assert SoloSeat.objects.get().unseen is None


def test_gli19_4_16_the_round_is_on_the_balance_and_in_game_logs_at_the_next_log_in(visitor, player, table):
    lose_the_answer_of(player, table)
    visitor.logout()
    window = a_window(player)
    part = Participation.objects.get()
    assert format_money(part.balance_after, "SEK", "en") in unescape(window.get("/en/").text)
    assert part.round.code in window.get("/en/history/").text
    assert accounts.balance(player.pk, Mode.REAL) == part.balance_after


@pytest.mark.sweep
def test_a_sentence_that_was_lost_on_its_way_is_said_again(player, table):
    lose_the_answer_of(player, table)
    for _ in range(2):
        assert AWAY in a_window(player).get(TABLE).text


@pytest.mark.sweep
def test_a_page_from_before_reports_it_on_its_next_click(visitor, player, table):
    lose_the_answer_of(player, table)
    answer = click(visitor, "bet:tie")
    assert AWAY in answer.text
    assert AWAY not in click(visitor, "bet:tie").text


@pytest.mark.sweep
@pytest.mark.parametrize("htmx", sample([True, False], 1), ids=["htmx", "without JavaScript"])
def test_a_round_whose_answer_arrived_is_not_reported(visitor, player, table, htmx):
    visitor.get(TABLE)
    for action in ("bet:player", "deal", "rebet_deal", "bet:tie"):
        assert AWAY not in click(visitor, action, htmx=htmx).text
    for page in (TABLE, "/en/", TABLE):
        assert AWAY not in visitor.get(page).text
    assert SoloSeat.objects.get().unseen is None


@pytest.mark.sweep
def test_the_same_deal_again_shows_the_round_and_tells_nothing_more(visitor, player, table):
    seat = a_seat(player, table, player=1000)
    a_round(player, table)
    form = {"action": "deal", "round_id": seat.round_id, "slip_version": 1, "table_version": 1}
    answer = visitor.post(f"{TABLE}play/", form, headers={"HX-Request": "true"})
    assert "already been played" in answer.text
    assert AWAY not in answer.text
    assert AWAY not in visitor.get("/en/").text


@pytest.mark.sweep
def test_every_table_and_mode_has_its_own_sentence_in_the_lobby(visitor, player, table):
    a_round(player, table, player=1000)
    a_round(player, table, Mode.FREE, player=1000)
    assert visitor.get("/en/").text.count(AWAY) == 2
    assert AWAY not in visitor.get(TABLE).text
    assert AWAY not in visitor.get("/en/table/baccarat/free/").text


@pytest.mark.sweep
def test_of_a_voided_round_it_says_nothing(visitor, player, table):
    void_unreproduced(lose_the_answer_of(player, table))
    assert AWAY not in visitor.get("/en/").text


@pytest.mark.parametrize("cookie", sample(["", "x", "..", "0" * 4000, "../../etc/passwd"], 1))
def test_a_cookie_of_nonsense_proves_nothing(visitor, player, table, cookie):
    lose_the_answer_of(player, table)
    visitor.cookies["sabot_shown"] = cookie
    assert AWAY in visitor.get(TABLE).text


@pytest.mark.sweep
def test_another_player_on_the_same_browser_sees_their_own(visitor, player, table):
    lose_the_answer_of(player, table)
    other = a_player(real=MONEY)
    a_round(other, table, tie=1000)
    visitor.get(TABLE)
    visitor.force_login(other.user)
    assert AWAY in visitor.get(TABLE).text
    assert AWAY not in visitor.get(TABLE).text


@pytest.mark.sweep
@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
def test_it_is_said_in_the_players_language(visitor, player, table, language):
    lose_the_answer_of(player, table)
    paid = Participation.objects.get().paid
    outcome = "Paid out: %(amount)s." if paid else "Your bets lost."
    english = f"Your round at %(table)s was completed while you were away. %(result)s {outcome}"
    with translation.override(language):
        expected = translation.gettext(english)
    assert language == "en" or expected != english
    assert expected.partition("%(table)s")[0] in unescape(visitor.get(f"/{language}/").text)

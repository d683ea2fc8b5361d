"""Game logs and the replay of a round over Django's test client."""

import re
from html import unescape

import pytest
from django.test import Client

from games.models import Participation, Round
from tests.builders import a_player, a_round, a_table
from tests.games.at_pages import MONEY
from tests.harness.sweeps import sample
from tests.voiding import void_unreproduced
from wallet.models import Mode
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


class TestGameLogs:
    def test_gli19_4_4_2_show_every_bet_and_every_win_separately(self, visitor, player, table):
        a_round(player, table, player=1000, banker=5000, tie=10_000)
        page = unescape(visitor.get("/en/history/").text)
        part = Participation.objects.get()
        for wager in part.wagers.all():
            assert format_money(wager.stake, "SEK", "en") in page
            assert wager.payout == 0 or format_money(wager.payout, "SEK", "en") in page
        for amount in (part.balance_before, part.balance_after):
            assert format_money(amount, "SEK", "en") in page
        assert part.round.code in page

    @pytest.mark.sweep
    def test_show_real_money_only(self, visitor, player, table):
        free = a_round(player, table, Mode.FREE, player=1000)
        real = a_round(player, table, player=1000)
        page = visitor.get("/en/history/").text
        assert Round.objects.get(pk=real.round_id).code in page
        assert Round.objects.get(pk=free.round_id).code not in page

    @pytest.mark.sweep
    def test_page_back_through_all_rounds_without_losing_or_repeating_one(self, visitor, player, table):
        played = [a_round(player, table, player=1000).round_id for _ in range(45)]
        seen: list[str] = []
        page = visitor.get("/en/history/").text
        while True:
            seen += re.findall(r'href="/en/history/([0-9a-f-]{36})/"', page)
            older = re.search(r'href="(\?before=\d+)" rel="next"', page)
            if not older:
                break
            page = visitor.get(f"/en/history/{older[1]}").text
        assert list(dict.fromkeys(seen)) == [str(each) for each in reversed(played)]

    @pytest.mark.sweep
    @pytest.mark.parametrize("key", sample(["x", "-1", "9" * 30, "٣", ""], 1))
    def test_take_an_invalid_cursor_for_the_newest_page(self, visitor, player, table, key):
        a_round(player, table, player=1000)
        assert Round.objects.get().code in visitor.get("/en/history/", {"before": key}).text


class TestAReplay:
    def test_gli19_4_14_is_marked_as_one_and_shows_the_round_as_it_was(self, visitor, player, table):
        played = a_round(player, table, player=1000)
        page = visitor.get(f"/en/history/{played.round_id}/").text
        part = Participation.objects.get()
        assert "Replay" in page
        assert part.round.code in page
        assert bytes(part.round.seed or b"").hex() in page
        assert part.round.commitment in page

    def test_gli19_4_14_of_a_void_round_shows_its_cards_and_no_winner(self, visitor, player, table):
        played = a_round(player, table, player=1000)
        void_unreproduced(played.round_id)
        page = visitor.get(f"/en/history/{played.round_id}/").text
        assert "Void: the cards on record" in page
        assert page.count('class="card__face') >= 4
        assert "spot__lit" not in page
        assert " wins" not in page.partition("replay-facts")[0]

    def test_of_somebody_else_is_not_found(self, visitor, player, table):
        other = a_player(real=MONEY)
        played = a_round(other, table, player=1000)
        assert visitor.get(f"/en/history/{played.round_id}/").status_code == 404

"""Squeezes at a shared table: who turns the cards, how this is announced, and the bets of each player."""

import json
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from games.models import ChatName, LiveTable, Phase, Squeeze
from games.shared import moves
from games.shared.pages import stream_tokens
from players.identity.confirmation import Stated, state
from players.models import Player
from tests.builders import a_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.owner import update_as_owner
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.live.streaming import a_ticket, a_web_server
from tests.live.watcher import watching
from wallet.models import Mode


def turners(live_table: LiveTable) -> dict[str, Player]:
    """Return who may turn the cards of each hand in the table's round."""
    found = Squeeze.objects.filter(live_table=live_table, round_id=round_at(live_table).pk).select_related("player")
    return {each.side: each.player for each in found}


def say(live_table: LiveTable, player: Player, side: str, card: int, share: int) -> bool:
    return moves.squeeze(live_table.pk, round_at(live_table).pk, player.pk, side, card, share)


def wait_a_moment() -> None:
    """Let as much time pass as two steps must be apart."""
    for each in Squeeze.objects.exclude(at=None):
        update_as_owner(Squeeze.objects.filter(pk=each.pk), at=round_at(each.live_table).opened_at)


@pytest.mark.django_db
class TestWhoTurnsTheCards:
    def test_the_largest_stakes_on_player_and_banker_in_smallest_bets_of_each_currency(self):
        live_table = a_live_table()
        swede, dane, romanian = (a_player(where, real=10_000_00) for where in ("SE", "DK", "RO"))
        bet(swede, live_table, player=250_00)  # five smallest bets
        bet(romanian, live_table, player=100_00, banker=20_00)  # as many, and one
        bet(dane, live_table, banker=250_00)
        assert turners(live_table) == {}
        advance_to(live_table, Phase.CLOSED)
        assert turners(live_table) == {"player": swede, "banker": dane}

    def test_nobody_where_nobody_has_bet_and_each_round_for_itself(self):
        live_table, player = a_live_table(), a_player(real=10_000_00)
        bet(player, live_table, banker=50_00)
        advance_to(live_table, Phase.CLOSED)
        assert turners(live_table) == {"banker": player}
        advance_to(live_table, Phase.BETTING)
        bet(player, live_table, tie=50_00)
        advance_to(live_table, Phase.CLOSED)
        assert turners(live_table) == {}
        assert not say(live_table, player, "banker", 0, 0)

    def test_only_that_player_in_order_and_no_card_before_the_deal_or_twice(self):
        live_table, player, other = a_live_table(), a_player(real=10_000_00), a_player(real=10_000_00)
        bet(player, live_table, player=250_00)
        bet(other, live_table, player=50_00, banker=50_00)
        assert not say(live_table, player, "player", 0, 0)  # bets are open
        advance_to(live_table, Phase.CLOSED)
        assert not say(live_table, other, "player", 0, 0)
        assert not say(live_table, player, "banker", 0, 0)
        assert not say(live_table, player, "player", 1, 100)  # has not said so, and nothing is dealt
        assert say(live_table, player, "player", 0, 0)
        assert not say(live_table, player, "player", 1, 100)
        advance_to(live_table, Phase.DEALT)
        assert not say(live_table, other, "banker", 1, 20)  # has not said so in time
        wait_a_moment()
        assert say(live_table, player, "player", 1, 20)
        assert not say(live_table, player, "player", 1, 30)  # too soon
        assert say(live_table, player, "player", 1, 100)
        wait_a_moment()
        assert not say(live_table, player, "player", 1, 10)
        assert not say(live_table, player, "player", 4, 10)
        assert Squeeze.objects.get(side="player").turned == [1]
        ended = advance_to(live_table, Phase.BETTING)
        assert not moves.squeeze(live_table.pk, ended.pk, player.pk, "player", 2, 100)

    def test_the_page_says_so_by_one_address(self):
        live_table, player = a_live_table(), a_player(real=10_000_00)
        bet(player, live_table, player=50_00)
        advance_to(live_table, Phase.CLOSED)
        client = Client()
        client.force_login(player.user)
        page = client.get(reverse("table", args=[live_table.table.slug, Mode.REAL])).content.decode()
        assert 'data-squeezes="player"' in page
        address = reverse("live_squeeze", args=[live_table.table.slug, Mode.REAL])
        step = {"round_id": round_at(live_table).pk, "side": "player", "place": 0, "share": 0}
        assert client.post(address, step).json() == {"is_noted": True}
        assert client.post(address, step).json() == {"is_noted": False}
        assert client.post(address, step | {"side": "tie"}).status_code == 400


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for the tests of streams, with real commits."""
    with django_db_blocker.unblock(), databases.clone("squeezes") as made:
        yield made


def test_everybody_is_sent_who_has_bet_and_each_step_of_a_squeeze_but_no_card(database: Database):
    live_table, player, other = a_live_table(), a_player(real=10_000_00), a_player("DK", real=10_000_00)
    ChatName.objects.create(player=other, name="Ibsen")
    state(player=player, stated=Stated("Hedda", "Gabler", "Nørregade 2", "1165", "København"))
    with (
        a_web_server(database) as server,
        watching(server.url, stream_tokens.issue(a_ticket(other, live_table))) as (watcher,),
    ):
        watcher.wait_for("public", 'data-phase="betting"')
        seat = bet(player, live_table, player=1_000_00)
        bet(other, live_table, tie=250_00)
        shown = watcher.wait_for("bettors", "Ibsen").html
        assert re.findall(r"(?:SEK|DKK)\xa0[\d,]+", shown) == ["SEK\xa01,000", "DKK\xa0250"]
        assert re.findall(r"<b>([^<]+)</b>", shown)[-2:] == [f"Seat {seat.pk % 1000}", "Ibsen"]  # no real name
        assert dict(re.findall(r'data-share-of="(\w+)" data-share="(\d+)"', shown)) == {
            "player": "76",
            "tie": "24",
        }  # 20 and 6.25 smallest bets
        advance_to(live_table, Phase.CLOSED)
        watcher.wait_for("bettors", "turns the cards: Player")
        assert say(live_table, player, "player", 0, 0)
        drawn = advance_to(live_table, Phase.DEALT).cards
        assert say(live_table, player, "player", 1, 100)
        sent = json.loads(watcher.wait_for("squeeze", '"turned":[1]').html)
        assert set(sent["hands"][0]) == {"round", "side", "card", "share", "turned"}
        assert not any(card in each.html for each in watcher.of("squeeze") for card in drawn.split())

"""The compliance API finds rounds and shows what is needed to deal them again; nothing before its time."""

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any
from uuid import UUID

import pytest

from games.engine.bets import Variant
from games.engine.commitments import Binding, Purpose
from games.engine.coup import deal
from games.engine.dealing import coup_at
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.models import Phase, Round, Shoe
from games.variants import GAMES
from players import datetime_format
from tests.api.client import ApiClient
from tests.builders import a_player, a_round, a_table
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, play_out, seated_players
from tests.dealt_shoes import ended, seed_of
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.people import a_member_of_staff, events
from tests.voiding import cancel, void_unreproduced
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 10_000_000


@pytest.fixture
def api_client() -> ApiClient:
    return ApiClient(a_member_of_staff("compliance").user)


def found(api_client: ApiClient, **query: Any) -> list[str]:
    answer = api_client.get("compliance/rounds/", **query)
    assert answer.status_code == 200, answer.content
    return [each["round"] for each in answer.json()["items"]]


def answered(api_client: ApiClient, round_id: object) -> Mapping[str, Any]:
    answer = api_client.get(f"compliance/rounds/{round_id}/")
    assert answer.status_code == 200, answer.content
    said: Mapping[str, Any] = answer.json()
    return said


class TestFinding:
    @pytest.mark.sweep
    def test_a_page_at_a_time_newest_first(self, api_client):
        player, table = a_player(real=MONEY), a_table()
        played = [str(a_round(player, table, player=1000).round_id) for _ in range(5)]
        cursor, seen = None, []
        while True:
            page = api_client.get("compliance/rounds/", limit=2, **({"cursor": cursor} if cursor else {})).json()
            seen += [each["round"] for each in page["items"]]
            a_round(player, table, player=1000)  # a round played in the meantime shifts no page
            cursor = page["next"]
            if cursor is None:
                break
        assert seen == played[::-1]

    @pytest.mark.sweep
    def test_by_whatever_the_page_of_rounds_finds_them_by(self, api_client):
        player, other, table = a_player(real=MONEY, free=MONEY), a_player(real=MONEY), a_table()
        mine = str(a_round(player, table, player=1000).round_id)
        theirs = str(a_round(other, table, tie=5000).round_id)
        free = str(a_round(player, table, Mode.FREE, player=1000).round_id)
        at = api_client.get("compliance/rounds/", player=other.pk).json()["items"][0]["at"]
        assert found(api_client, player=player.pk) == [free, mine]
        assert found(api_client, mode="R") == [theirs, mine]
        assert found(api_client, currency="SEK", staked_least=5000) == [theirs]
        assert found(api_client, currency="SEK", staked_most=4999, mode="R") == [mine]
        assert found(api_client, since=at) == [free, theirs]
        assert found(api_client, until=at) == [mine]
        assert found(api_client, table=table.pk, game="baccarat", status="complete") == [free, theirs, mine]
        assert found(api_client, table=table.pk, game="golden") == []
        assert found(api_client, status="void") == []
        by_side = [found(api_client, won_by=side) for side in ("player", "banker", "tie")]
        assert sorted(chain(*by_side)) == sorted([mine, theirs, free])

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("query", "pointer"),
        sample(
            [
                ({"staked_least": 1}, "/?currency"),
                ({"staked_least": "1.5", "currency": "SEK"}, "/?staked_least"),
                ({"staked_least": 10**16, "currency": "SEK"}, "/?staked_least"),
                ({"player": "somebody"}, "/?player"),
                ({"player": 10**19}, "/?player"),
                ({"game": "whist"}, "/?game"),
                ({"status": "in progress"}, "/?status"),
                ({"since": "0001-01-01"}, "/?since"),
                ({"since": datetime_format.FIRST.isoformat()}, None),
                ({"colour": "red"}, "/?colour"),
            ],
            2,
        ),
    )
    def test_an_invalid_question_names_its_field(self, api_client, query, pointer):
        answer = api_client.get("compliance/rounds/", **query)
        errors = answer.json().get("errors", [])
        assert [error["pointer"] for error in errors] == ([pointer] if pointer else [])


class TestOne:
    def test_a_solo_round_is_dealt_and_settled_again_from_the_answer(self, api_client):
        player = a_player(real=MONEY)
        played = answered(api_client, a_round(player, a_table(), player=1000, tie=1000).round_id)
        variant, seed = GAMES[played["game"]], bytes.fromhex(played["seed"])
        assert isinstance(variant, Variant)
        coup = deal(shuffle(seed, variant.decks, played["player_value"]))
        (part,) = played["parts"]
        binding = Binding(Purpose.SOLO, played["id"], played["table"], variant.decks, played["rules_digest"])
        assert binding.commitment(seed) == played["commitment"]
        assert [card.code for card in coup.cards] == played["cards"]
        assert str(coup.outcome) == played["outcome"]
        assert variant.digest == played["rules_digest"]
        assert part["player"] == str(player)
        again = settle(variant, coup, {bet["bet"]: bet["stake"] for bet in part["bets"]})
        assert {(line.bet, line.stake, line.payout, str(line.result)) for line in again.lines} == {
            (bet["bet"], bet["stake"], bet["payout"], bet["result"]) for bet in part["bets"]
        }
        assert (played["obstacle"], played["differences"], played["void"], played["shoe"]) == ("", [], None, None)
        assert [event["kind"] for event in played["events"]] == ["seat.committed", "round.settled"]

    def test_a_shared_round_is_dealt_again_once_its_shoe_is_over_and_tells_no_seed_before(self, api_client):
        live = a_live_table()
        player = a_player(real=MONEY)
        bet(player, live, player=10_000)
        round_id = round_at(live).pk
        assert api_client.get(f"compliance/rounds/{round_id}/").status_code == 404  # not over yet
        advance_to(live, Phase.SETTLED)
        played = answered(api_client, round_id)
        assert (played["seed"], played["shoe"]["seed"]) == (None, None)
        assert played["shoe"]["commitment"] == played["commitment"]
        secret = seed_of(played_from(round_id))
        assert secret.hex() not in json.dumps(played)
        coup = coup_at(shuffle(secret, played["shoe"]["decks"]), played["first_card"])
        assert [card.code for card in coup.cards] == played["cards"]
        cancel(round_id=advance_to(live, Phase.BETTING).pk, by="staff:1")
        shoe = ended(played_from(round_id))
        assert played["shoe"]["cards_root"] == shoe.root
        assert [card["card"] for card in played["proven_cards"]] == played["cards"]
        assert answered(api_client, round_id)["shoe"]["seed"] == secret.hex()

    @pytest.mark.sweep
    def test_a_coup_between_players_says_who_laid_and_decided_what(self, api_client):
        table = a_chemin_table()
        seated = seated_players(table, 2)
        a_dealt_coup(table)
        play_out(table)
        played = answered(api_client, Round.objects.latest("at").pk)
        coup = played["coup"]
        assert coup["banker_player"] in {str(seated_player) for seated_player in seated}
        assert sum(stake["stake"] for stake in coup["stakes"]) == coup["at_risk"]
        assert {stake["player"] for stake in coup["stakes"]} <= {str(seated_player) for seated_player in seated}
        assert coup["moves"]
        assert (played["obstacle"], played["differences"]) == ("", [])

    def test_of_one_that_was_voided_it_says_why_and_what_went_back(self, api_client):
        player = a_player(real=MONEY)
        round_id = a_round(player, a_table(), player=1000).round_id
        void_unreproduced(round_id)
        played = answered(api_client, round_id)
        (part,) = played["parts"]
        assert played["void"]["reason"] == "not_reproduced"
        assert part["refund"] == {"returned": part["staked"] - part["paid"], "shortfall": 0}
        assert api_client.get("compliance/rounds/", status="void").json()["items"][0]["void"] == "not_reproduced"

    def test_another_id_is_not_found(self, api_client):
        answer = api_client.get("compliance/rounds/00000000-0000-0000-0000-000000000000/")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")

    def test_access_to_every_player_shown_is_recorded(self, api_client):
        player = a_player(real=MONEY)
        round_id = a_round(player, a_table(), player=1000).round_id
        found(api_client)
        answered(api_client, round_id)
        accesses = events("data.accessed")[-2:]
        assert [look["on"] for look in accesses] == ["page:api:compliance_rounds", "page:api:compliance_round"]
        assert [look["data"]["players"] for look in accesses] == [[str(player)]] * 2
        assert accesses[1]["data"]["of"] == {"round_id": str(round_id)}


def test_rounds_that_go_on_are_listed_without_cards_and_players(api_client):
    live = a_live_table()
    bet(a_player(real=MONEY), live, player=10_000)
    going = round_at(live)
    (row,) = api_client.get("compliance/rounds/in-progress/").json()["items"]
    assert row.pop("opened_at")
    assert row == {
        "round": str(going.pk),
        "code": going.code,
        "table": live.table_id,
        "game": live.table.variant,
        "mode": "R",
        "phase": "betting",
        "is_interrupted": False,
    }
    advance_to(live, Phase.SETTLED)
    assert api_client.get("compliance/rounds/in-progress/").json() == {"items": [], "next": None}


def played_from(round_id: UUID) -> Shoe:
    """Return the shoe of a round that is over."""
    shoe = Round.objects.select_related("shoe__live_table").get(pk=round_id).shoe
    assert shoe
    return shoe

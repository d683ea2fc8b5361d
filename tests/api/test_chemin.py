"""Chemin de Fer through the API: API clients read the table and the cards of their player, and do not play."""

import pytest

from games.engine.chemin import Phase
from games.errors import ApiClientMayNotPlay
from games.models import CheminSeat, LiveTable
from players.models import ApiToken
from tests.api.at_live import at, client_of, refused, state_at
from tests.api.operations import component, held_to
from tests.builders import a_player
from tests.chemin.at_table import (
    MONEY,
    a_chemin_table,
    a_dealt_coup,
    a_practice_table,
    answer,
    chemin_of,
    play_out,
    seated_players,
    sit,
    state_of,
)
from tests.chemin.hands import next_seed, shoe_where, third_cards_on_advice
from tests.chemin.spelling import cards_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def live_table() -> LiveTable:
    return a_chemin_table()


class TestNoProgramPlays:
    """GLI-19 4.11.1: a player plays against people, and house players are marked."""

    @pytest.mark.parametrize("free", [False, True], ids=["real", "free"])
    def test_gli19_4_11_1_an_api_client_takes_no_seat(self, free):
        live_table = a_practice_table() if free else a_chemin_table()
        player = a_player(real=MONEY, free=MONEY)
        said = refused(client_of(player).post(at(live_table, "seat")), 403, "api-clients-may-not-play")
        assert said == "API clients cannot play here. Play on the page of the table."
        assert not CheminSeat.objects.filter(player=player).exists()

    def test_gli19_4_11_1_the_database_stores_no_move_of_an_api_client(self, live_table):
        first, _ = seated_players(live_table, 2)
        client_of(first).post(at(live_table, "seat"))
        session = ApiToken.objects.get(user=first.user).session_id
        for move in (
            lambda: answer(first, live_table, "take_bank", 10_000, session=session),
            lambda: sit(a_player(real=MONEY), live_table, 3, session),
        ):
            with pytest.raises(ApiClientMayNotPlay):
                move()
        assert chemin_of(live_table).move == 2
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id is None


class TestReading:
    """The table as its page shows it to the player."""

    def test_a_player_reads_what_may_be_answered_and_nobody_else_does(self, live_table):
        first, second = seated_players(live_table, 2)
        read = state_at(client_of(first), live_table)
        state, own = read["state"], read["own"]
        assert (state["shape"], state["phase"], state["asked_seat"]) == ("chemin", "offer", 1)
        assert state["question"] == own["question"] == chemin_of(live_table).question
        assert 590 < state["seconds_left"] <= 600
        take, let_pass = own["options"]
        assert take == {"action": "take_bank", "call": None, "lowest": 1_000, "highest": 100_000, "amount": None}
        assert let_pass["action"] == "pass"
        assert (own["seat"], own["balance"], own["on_table"]) == (1, MONEY, 0)
        other = state_at(client_of(second), live_table)
        assert (other["state"] | {"at": "", "seconds_left": 0}) == (state | {"at": "", "seconds_left": 0})
        assert other["own"]["options"] == []

    def test_a_finished_coup_is_read_with_all_its_cards(self, live_table):
        banker, punter = seated_players(live_table, 2)
        a_dealt_coup(live_table)
        play_out(live_table)
        read = state_at(client_of(punter), live_table)
        state, last = read["state"], read["own"]["last_round"]
        assert state["outcome"] == state["results"][-1]
        assert None not in state["punter"]["cards"] + state["banker"]["cards"]
        assert last["id"] == state["round"]["id"]
        assert held_to(component("OwnRoundSchema"), client_of(banker).get(f"rounds/{last['id']}/").json()) == ""

    def test_distinguishes_house_players_but_not_their_money(self):
        live_table = a_practice_table()
        player = a_player(free=MONEY)
        sit(player, live_table)
        read = client_of(player).get(at(live_table))
        positions = [place for place in read.json()["state"]["seats"] if place["is_house_player"]]
        assert len(positions) == 3
        assert "2000000" not in read.content.decode()  # what each of them has to play with


class TestCards:
    """A card that lies face down reaches only players who may see it."""

    def test_each_reads_their_own_and_what_is_turned_up(self, monkeypatch, live_table):
        seed, coup = shoe_where(third_cards_on_advice)
        next_seed(monkeypatch, seed)
        banker, punter = seated_players(live_table, 2)
        looker = a_player(real=1_000)
        a_dealt_coup(live_table)
        assert state_of(live_table).phase is Phase.PUNTER
        programs = {each.pk: client_of(each) for each in (banker, punter, looker)}
        for player in (banker, looker):
            assert not cards_in(programs[player.pk].get(at(live_table)).content.decode())
        read = state_at(programs[punter.pk], live_table)
        assert read["own"]["hand"]["cards"] == [str(card) for card in coup.punter]
        assert read["own"]["hand"]["total"] == 5
        assert read["own"]["rule"] == "as_you_please"
        assert read["state"]["punter"] == {"cards": [None, None], "total": None, "is_natural": False}
        answer(punter, live_table, "ask_croupier")
        assert state_at(programs[punter.pk], live_table)["own"]["advice"] == "as_you_please"
        answer(punter, live_table, "draw_card")
        for api_client in programs.values():
            state = state_at(api_client, live_table)["state"]
            assert state["punter"]["cards"] == [None, None, str(coup.thirds[0])]
            assert state["banker"]["cards"] == [str(card) for card in coup.banker]
        assert state_at(programs[banker.pk], live_table)["own"]["rule"] == "as_you_please"  # nobody else plays along


@pytest.mark.sweep
def test_a_table_that_is_played_for_other_money_is_refused(live_table):
    german = a_player("DE", real=1_000)
    refused(client_of(german).get(at(live_table)), 403, "other-currency")

"""Chemin de Fer through the API: what is asked of which player, what may be answered, and who sees which card."""

from typing import Any

import pytest

from games.engine.chemin import Phase
from games.models import CheminSeat, LiveTable, WhyLeft
from players.models import ApiCall, Player, Scope
from players.protection import play_sessions
from tests.api.at_live import at, client_of, refused, state_at
from tests.api.client import ApiClient
from tests.api.operations import component, held_to
from tests.builders import a_chemin_live_table, a_player
from tests.chemin.at_table import (
    MONEY,
    a_chemin_table,
    a_dealt_coup,
    a_practice_table,
    asked_at,
    cash,
    chemin_of,
    finish_cut,
    hurry,
    seated_players,
    sit,
    state_of,
)
from tests.chemin.hands import next_seed, shoe_where, third_cards_on_advice
from tests.chemin.spelling import cards_in
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample

pytestmark = pytest.mark.django_db
MOST_ANSWERS = 200


@pytest.fixture
def live_table() -> LiveTable:
    return a_chemin_table()


def decide(player: Player, live_table: LiveTable, action: str, **said: Any) -> Any:
    """Answer what is asked now, or another question that is named."""
    asked = {"question": chemin_of(live_table).question, "action": action} | said
    answered = client_of(player).post(at(live_table, "decisions"), asked)
    finish_cut(live_table)
    return answered


class TestASeat:
    """Sitting down, stepping away, coming back and getting up."""

    def test_a_seat_is_chosen_or_random_and_kept(self, live_table):
        one, other = (client_of(a_player(real=MONEY)) for _ in range(2))
        assert one.post(at(live_table, "seat"), {"seat": 4}).json()["seat"] == 4
        place = other.post(at(live_table, "seat")).json()["seat"]
        assert place in range(1, 10)
        assert other.post(at(live_table, "seat"), {"seat": 9 if place < 9 else 8}).json()["seat"] == place
        assert CheminSeat.objects.filter(live_table=live_table, session=None).count() == 0

    @pytest.mark.sweep
    def test_a_taken_seat_is_refused_with_the_reason_of_the_page(self, live_table):
        seated_players(live_table, 1)
        answered = client_of(a_player(real=MONEY)).post(at(live_table, "seat"), {"seat": 1})
        told = refused(answered, 422, "croupier-refuses", reason="seat_taken")
        assert told == "This seat is taken. Choose another seat."

    @pytest.mark.sweep
    def test_a_player_who_steps_away_is_asked_nothing_until_the_return(self, live_table):
        first, second = seated_players(live_table, 2)
        api_client = client_of(first)
        assert api_client.post(at(live_table, "seat/away")).status_code == 200
        assert state_at(api_client, live_table)["own"]["presence"] == "away"
        refused(api_client.post(at(live_table, "seat/away")), 422, "croupier-refuses", reason="already_away")
        assert api_client.post(at(live_table, "seat/back")).status_code == 200
        assert state_at(api_client, live_table)["own"]["presence"] == "playing"
        assert api_client.send("delete", at(live_table, "seat")).json()["seat"] is None
        assert CheminSeat.objects.get(player=first).why_left == WhyLeft.WISH
        assert CheminSeat.objects.get(player=second).left_at is None

    def test_the_same_call_again_sits_down_once(self, live_table):
        player = a_player(real=MONEY)
        api_client = client_of(player)
        first = api_client.post(at(live_table, "seat"), key="a")
        api_client.send("delete", at(live_table, "seat"))
        again = api_client.post(at(live_table, "seat"), key="a")
        assert (again.json(), again["Idempotency-Replayed"]) == (first.json(), "true")
        assert CheminSeat.objects.filter(player=player).count() == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize("seat", [0, 10, "3", True, 2**70])
    def test_an_invalid_seat_is_reported_by_its_field(self, live_table, seat):
        answered = client_of(a_player(real=MONEY)).post(at(live_table, "seat"), {"seat": seat})
        refused(answered, 400, "invalid")
        assert answered.json()["errors"][0]["pointer"] == "/seat"

    def test_a_token_that_only_reads_takes_none(self, live_table):
        player = a_player(real=MONEY)
        reader = ApiClient(player.user, Scope.READ)
        for method, what in (("post", "seat"), ("delete", "seat"), ("post", "seat/away"), ("post", "decisions")):
            refused(reader.send(method, at(live_table, what)), 403, "forbidden")
        assert not CheminSeat.objects.filter(player=player).exists()


class TestWhatIsAsked:
    """The question, its options with amounts, and until when."""

    @pytest.mark.sweep
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

    @pytest.mark.sweep
    def test_calls_stakes_and_bids_have_their_amounts(self, live_table):
        first, second, third = seated_players(live_table, 3)
        assert decide(first, live_table, "take_bank", amount=10_000).status_code == 200
        calls = state_at(client_of(second), live_table)["own"]["options"]
        assert [each["call"] for each in calls if each["action"] == "make_call"] == [
            "banco_solo",
            "banco",
            "banco_et_la_table_marche",
            "banco_avec_la_table",
        ]
        (along,) = [each for each in calls if each["call"] == "banco_avec_la_table"]
        assert (along["lowest"], along["highest"]) == (5_000, 10_000)
        answered = decide(second, live_table, "make_call", call="banco_avec_la_table", amount=6_000)
        assert answered.status_code == 200, answered.content
        state = state_at(client_of(third), live_table)
        assert state["state"]["bank"] == {"seat": 1, "amount": 10_000, "at_risk": 6_000, "open": 4_000}
        place = state["state"]["seats"][1]
        assert (place["call"], place["stake"]) == ("banco_avec_la_table", 6_000)
        (stake,) = [each for each in state["own"]["options"] if each["action"] == "lay_stake"]
        assert (stake["lowest"], stake["highest"]) == (1, 4_000)
        assert cash(second).balance == MONEY - 6_000

    def test_every_option_can_be_answered_to_the_end_of_a_coup(self, live_table):
        players = seated_players(live_table, 3)
        api_client = {player.pk: client_of(player) for player in players}
        for _ in range(MOST_ANSWERS):
            if (past := state_at(api_client[players[0].pk], live_table)["state"]["results"]) and past[0]:
                break
            player = asked_at(live_table)
            own = state_at(api_client[player.pk], live_table)["own"]
            option = next((each for each in own["options"] if each["action"] != "pass"), own["options"][0])
            said = {"question": own["question"], "action": option["action"]}
            if option["call"]:
                said["call"] = option["call"]
            if amount := option["amount"] or option["highest"]:
                said["amount"] = amount
            answered = api_client[player.pk].post(at(live_table, "decisions"), said)
            assert answered.status_code == 200, (said, answered.content)
            finish_cut(live_table)
        state = state_at(api_client[players[0].pk], live_table)["state"]
        assert state["outcome"] == state["results"][-1]
        assert None not in state["punter"]["cards"] + state["banker"]["cards"]
        last = state_at(api_client[players[0].pk], live_table)["own"]["last_round"]
        assert last["id"] == state["round"]["id"]
        assert held_to(component("OwnRoundSchema"), api_client[players[0].pk].get(f"rounds/{last['id']}/").json()) == ""
        assert cash(players[0]).balance is not None

    def test_distinguishes_house_players_but_not_their_money(self):
        live_table = a_practice_table()
        player = a_player(free=MONEY)
        sit(player, live_table)
        read = client_of(player).get(at(live_table))
        places = [place for place in read.json()["state"]["seats"] if place["is_house_player"]]
        assert len(places) == 3
        assert "2000000" not in read.content.decode()  # what each of them has to play with


class TestADecision:
    """The answer to what is asked, in time and of the player who is asked."""

    @pytest.mark.parametrize(
        ("said", "status", "code", "reason"),
        sample(
            [
                ({"action": "take_bank"}, 422, "croupier-refuses", "bad_amount"),
                ({"action": "take_bank", "amount": 999}, 422, "croupier-refuses", "below_minimum"),
                ({"action": "take_bank", "amount": 100_001}, 422, "croupier-refuses", "above_maximum"),
                ({"action": "lay_stake", "amount": 1_000}, 422, "croupier-refuses", "not_now"),
                ({"action": "pass", "question": 99}, 409, "question-passed", None),
            ],
            2,
        ),
    )
    def test_a_refusal_has_its_code_its_reason_and_the_page_s_sentence(self, live_table, said, status, code, reason):
        first, _ = seated_players(live_table, 2)
        answered = decide(first, live_table, **said)
        assert refused(answered, status, code, reason=reason)
        assert chemin_of(live_table).move == 2

    @pytest.mark.sweep
    def test_every_reason_has_a_sentence_in_every_language(self, live_table):
        first, _ = seated_players(live_table, 2)
        asked = {"question": chemin_of(live_table).question, "action": "take_bank", "amount": 1}
        told = {
            language: refused(
                client_of(first, language).post(at(live_table, "decisions"), asked), 422, "croupier-refuses"
            )
            for language in ("sv", "da", "ro", "de", "en")
        }
        assert len(set(told.values())) == 5
        assert told["en"] == "The smallest bank of this table is SEK\N{NO-BREAK SPACE}10."

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("said", "pointer"),
        sample(
            [
                ({"action": "cheat"}, "/action"),
                ({"action": "join"}, "/action"),
                ({"action": "pass", "call": "banco"}, "/call"),
                ({"action": "make_call"}, "/call"),
                ({"action": "make_call", "call": "all"}, "/call"),
                ({"action": "take_bank", "amount": "10000"}, "/amount"),
                ({"action": "take_bank", "amount": 10_000.0}, "/amount"),
                ({"action": "take_bank", "amount": -1}, "/amount"),
                ({"action": "take_bank", "amount": 10**30}, "/amount"),
                ({"action": "pass", "question": 2**64}, "/question"),
                ({"action": "pass", "seat": 1}, "/seat"),
            ],
            3,
        ),
    )
    def test_an_invalid_decision_is_reported_by_its_field(self, live_table, said, pointer):
        first, _ = seated_players(live_table, 2)
        answered = decide(first, live_table, **said)
        refused(answered, 400, "invalid")
        assert [error["pointer"] for error in answered.json()["errors"]] == [pointer]
        assert not ApiCall.objects.exists()

    def test_after_its_time_it_is_too_late(self, live_table):
        first, _ = seated_players(live_table, 2)
        hurry(live_table)
        refused(decide(first, live_table, "take_bank", amount=10_000), 409, "question-passed")
        assert cash(first).balance == MONEY

    def test_the_same_call_again_stakes_nothing_twice(self, live_table):
        first, _ = seated_players(live_table, 2)
        asked = {"question": chemin_of(live_table).question, "action": "take_bank", "amount": 10_000}
        api_client = client_of(first)
        one, two = (api_client.post(at(live_table, "decisions"), asked, key="a") for _ in range(2))
        assert (one.status_code, one.json()) == (two.status_code, two.json())
        assert cash(first).balance == MONEY - 10_000
        refused(api_client.post(at(live_table, "decisions"), asked, key="b"), 409, "question-passed")

    def test_a_reality_check_waits_for_its_answer(self, live_table):
        player = a_player(real=MONEY)
        api_client = client_of(player)
        api_client.post(at(live_table, "seat"), {"seat": 1})
        sit(a_player(real=MONEY), live_table, 2)
        session = CheminSeat.objects.get(player=player).session
        assert session
        play_sessions.read_session(player, session)
        as_owner("UPDATE players_playsession SET checked_at = clock_timestamp() - interval '2 hours'")
        asked = {"question": chemin_of(live_table).question, "action": "take_bank", "amount": 10_000}
        refused(api_client.post(at(live_table, "decisions"), asked), 403, "not-eligible", ineligibility="check")
        assert CheminSeat.objects.get(player=player).left_at is None

    @pytest.mark.sweep
    def test_a_player_limited_to_one_table_comes_back_first(self):
        live_table = a_chemin_table(currency="EUR")
        elsewhere = a_chemin_live_table("EUR", slug="elsewhere")
        player = a_player("DE", real=50_000)
        api_client = client_of(player)
        api_client.post(at(live_table, "seat"), {"seat": 1})
        sit(a_player("DE", real=50_000), live_table, 2)
        api_client.post(f"tables/{elsewhere.slug}/real/seat/")
        asked = {"question": chemin_of(live_table).question, "action": "take_bank", "amount": 10_000}
        refused(api_client.post(at(live_table, "decisions"), asked), 409, "table-waits")
        assert api_client.post(at(live_table, "seat")).json()["seat"] == 1
        assert api_client.post(at(live_table, "decisions"), asked).status_code == 200


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
        assert decide(punter, live_table, "ask_croupier").status_code == 200
        assert state_at(programs[punter.pk], live_table)["own"]["advice"] == "as_you_please"
        assert decide(punter, live_table, "draw_card").status_code == 200
        for api_client in programs.values():
            state = state_at(api_client, live_table)["state"]
            assert state["punter"]["cards"] == [None, None, str(coup.thirds[0])]
            assert state["banker"]["cards"] == [str(card) for card in coup.banker]
        assert state_at(programs[banker.pk], live_table)["own"]["rule"] == "as_you_please"  # nobody else plays along
        assert not cards_in("".join(ApiCall.objects.values_list("body", flat=True)))


@pytest.mark.sweep
def test_a_table_that_is_played_for_other_money_is_refused(live_table):
    german = a_player("DE", real=1_000)
    refused(client_of(german).get(at(live_table)), 403, "other-currency")
    refused(client_of(german).post(at(live_table, "seat")), 403, "other-currency")

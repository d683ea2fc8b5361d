"""Shared tables through the API: the same table, services and texts as on their page."""

import re

import pytest
from django.urls import reverse

from audit.models import Event
from games.models import LiveSeat, LiveTable, Phase
from games.shared import malfunction
from games.shared.seats import seat_at
from games.solo import seats
from players.models import ApiCall, Scope
from players.protection import exclusions
from tests.api.at_live import at, client_of, refused, state_at
from tests.api.client import ApiClient
from tests.builders import a_player, a_table
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, step
from tests.live.betting import held
from tests.live.test_live_pages import visitor_of
from wallet.models import Account, Hold, Mode

pytestmark = pytest.mark.django_db


@pytest.fixture
def live_table():
    return a_live_table()


@pytest.fixture
def player():
    return a_player(real=1_000_00)


def a_bet(live_table: LiveTable, **said: object) -> dict[str, object]:
    live_round = round_at(live_table)
    usual = {"round_id": str(live_round.pk), "table_version": live_round.version.number, "bet": "player"}
    return usual | {"chip": 50_00} | said


class TestReading:
    """A table as everybody sees it, and what is one's own."""

    @pytest.mark.sweep
    def test_a_table_says_what_its_page_says(self, live_table, player):
        bet(player, live_table, player=50_00, tie=50_00)
        live_round = round_at(live_table)
        read = state_at(client_of(player), live_table)
        state, own = read["state"], read["own"]
        assert (state["shape"], state["table"], state["mode"]) == ("shared", "live", "real")
        assert (state["phase"], state["takes_bets"], state["outcome"]) == ("betting", True, None)
        assert state["round"] == {"id": str(live_round.pk), "code": live_round.code, "number": 1, "is_void": False}
        shoe = live_round.shoe
        committed = {"commitment": shoe.commitment, "cards_root": shoe.root}
        assert state["shoe"] == {"id": str(shoe.pk), "number": 1, "entropy": None, "chances": []} | committed
        assert state["cut"] is None
        assert 590 < state["seconds_left"] <= 600
        assert state["table_version"] == live_round.version.number
        assert own["bets"] == {"player": 50_00, "tie": 50_00}
        assert (own["staked"], own["balance"], own["currency"]) == (100_00, 900_00, "SEK")
        assert (own["can_undo"], own["last_round"]) == (True, None)

    def test_it_tells_cards_once_they_are_turned_up_and_no_other(self, live_table, player):
        bet(player, live_table, player=50_00)
        api_client = client_of(player)
        cards = advance_to(live_table, Phase.DEALT).cards.split()
        state = state_at(api_client, live_table)["state"]
        assert (state["player"]["cards"], state["banker"]["cards"]) == (cards[:1], [])
        assert (state["outcome"], state["deadline"], state["results"]) == (None, None, [])
        answer = api_client.get(at(live_table)).content.decode()
        assert not [card for card in set(cards[1:]) - set(cards[:1]) if f'"{card}"' in answer]
        step(live_table)
        state = state_at(api_client, live_table)["state"]
        shown = state["player"]["cards"] + state["banker"]["cards"]
        assert sorted(shown) == sorted(cards)
        assert state["results"][-1]["outcome"] == state["outcome"]

    @pytest.mark.sweep
    def test_what_a_round_came_to_is_what_the_page_says(self, live_table, player):
        bet(player, live_table, player=50_00, banker=50_00)
        live_round = advance_to(live_table, Phase.SETTLED)
        own = state_at(client_of(player), live_table)["own"]
        last = own["last_round"]
        assert (last["id"], last["staked"], last["is_void"]) == (str(live_round.pk), 100_00, False)
        assert own["balance"] == 1_000_00 + last["net"]
        assert last["paid"] == sum(line["payout"] for line in last["bets"])
        page = visitor_of(player).get(reverse("live_now", args=["live", Mode.REAL])).content.decode()
        assert f"{last['paid'] / 100:,.2f}" in page or last["paid"] == 0
        advance_to(live_table, Phase.BETTING)
        own = state_at(client_of(player), live_table)["own"]
        assert (own["bets"], own["last_stakes"]) == ({}, {"player": 50_00, "banker": 50_00})
        assert own["last_round"] == last

    def test_reading_changes_nothing_and_takes_no_seat(self, live_table, player):
        api_client = ApiClient(player.user, Scope.READ)
        assert state_at(api_client, live_table)["own"] is None
        assert not LiveSeat.objects.filter(player=player).exists()
        assert not ApiCall.objects.exists()

    @pytest.mark.sweep
    def test_is_not_found_at_a_solo_table_or_without_a_table(self, player):
        a_table()
        api_client = client_of(player)
        for slug in ("baccarat", "nowhere"):
            refused(api_client.get(f"tables/{slug}/real/state/"), 404, "not-found")
            refused(api_client.get(f"tables/{slug}/real/stream/"), 404, "not-found")

    def test_a_player_who_may_not_play_reads_nothing_and_gets_the_reason_of_the_page(self, live_table, player):
        exclusions.pause(player=player, by=str(player))
        stated = refused(client_of(player).get(at(live_table)), 403, "not-eligible", ineligibility="excluded")
        assert stated.startswith("Your play is paused until")

    @pytest.mark.sweep
    def test_a_table_for_other_players_is_refused_as_on_its_page(self, live_table):
        romanian = a_player("RO", real=1_000_00)
        answer = client_of(romanian).get(at(live_table))
        page = visitor_of(romanian).get(reverse("table", args=["live", Mode.REAL]))
        assert (answer.status_code == 200) is (page.status_code == 200)


class TestBetting:
    """Bets through the API are bets at the table: held at once, and refused as on the page."""

    def test_a_chip_is_held_and_answered_with_all_bets_on_the_table(self, live_table, player):
        api_client = client_of(player)
        own = api_client.post(at(live_table, "bets"), a_bet(live_table)).json()
        assert (own["bets"], own["balance"], held(player)) == ({"player": 50_00}, 950_00, 50_00)
        assert own == state_at(api_client, live_table)["own"]
        seat = LiveSeat.objects.get(player=player)
        assert seat.session is not None  # of the API client: the round says in which it was played

    @pytest.mark.sweep
    def test_changes_are_those_of_the_page(self, live_table, player):
        api_client, here = client_of(player), at(live_table, "bets/changes")
        api_client.post(at(live_table, "bets"), a_bet(live_table))

        def press(change: str) -> dict[str, int]:
            answer = api_client.post(here, {"round_id": str(round_at(live_table).pk), "change": change})
            assert answer.status_code == 200, answer.content
            return dict(answer.json()["bets"])

        assert press("double") == {"player": 100_00}
        assert press("undo") == {"player": 50_00}
        advance_to(live_table, Phase.SETTLED)
        advance_to(live_table, Phase.BETTING)
        assert press("rebet") == {"player": 50_00}
        assert held(player) == 50_00
        asked = {"round_id": str(round_at(live_table).pk), "change": "clear"}  # which this game has no button for
        refused(api_client.post(here, asked), 422, "not-offered")

    def test_a_whole_slip_is_laid_at_once_or_not_at_all(self, live_table, player):
        api_client, here = client_of(player), at(live_table, "bets/slip")
        asked = a_bet(live_table, bets={"banker": 130_00, "tie": 70_00})
        del asked["bet"], asked["chip"]
        own = api_client.post(here, asked).json()
        assert own["bets"] == {"banker": 130_00, "tie": 70_00}
        too_much = asked | {"bets": {"player": 50_00, "tie": 10_000_000_00}}
        refused(api_client.post(here, too_much), 422, "over-maximum")
        assert state_at(api_client, live_table)["own"]["bets"] == own["bets"]
        own = api_client.post(at(live_table, "bets/changes"), {"round_id": asked["round_id"], "change": "undo"}).json()
        assert (own["bets"], held(player)) == ({}, 0)

    @pytest.mark.parametrize(
        ("said", "status", "code"),
        sample(
            [
                ({"chip": 51_00}, 422, "unknown-chip"),
                ({"bet": "nothing"}, 422, "bet-refused"),
                ({"bet": "super_6", "chip": 50_00}, 422, "main-bet-missing"),
                ({"table_version": 99}, 409, "table-changed"),
                ({"round_id": "11111111-1111-4111-8111-111111111111"}, 409, "too-late"),
                ({"chip": 10_000_00}, 409, "balance-too-low"),
            ],
            2,
        ),
    )
    def test_a_refusal_moves_nothing_is_on_record_and_stays_the_answer(self, live_table, player, said, status, code):
        api_client, asked = client_of(player), a_bet(live_table, **said)
        first = api_client.post(at(live_table, "bets"), asked, key="once")
        refused(first, status, code)
        assert (held(player), Hold.objects.exists()) == (0, False)
        event = Event.objects.get(kind="bet.refused")
        again = api_client.post(at(live_table, "bets"), asked, key="once")
        assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (status, first.json(), "true")
        assert Event.objects.get(kind="bet.refused") == event

    def test_a_bet_after_no_more_bets_is_too_late_by_the_database_s_clock(self, live_table, player):
        seat_at(player, live_table)
        asked = a_bet(live_table)
        hurry(live_table)
        message = refused(client_of(player).post(at(live_table, "bets"), asked), 409, "too-late")
        assert message == "Bet received too late"
        assert held(player) == 0

    def test_the_same_call_again_lays_no_second_chip(self, live_table, player):
        api_client, asked = client_of(player), a_bet(live_table)
        first = api_client.post(at(live_table, "bets"), asked, key="a")
        again = api_client.post(at(live_table, "bets"), asked, key="a")
        assert first.json() == again.json()
        assert held(player) == 50_00
        refused(
            api_client.post(at(live_table, "bets"), asked | {"chip": 100_00}, key="a"), 409, "idempotency-key-reused"
        )
        api_client.post(at(live_table, "bets"), asked, key="b")
        assert held(player) == 100_00

    @pytest.mark.sweep
    def test_a_player_limited_to_one_table_takes_a_seat_first(self, live_table):
        german = a_player("DE", real=1_000_00)
        other = a_live_table("pairs", slug="other")
        if german.currency not in round_at(live_table).version.limits:
            pytest.fail("the table is for Germans too")
        api_client = client_of(german)
        seats.sit(german, other.table_id, Mode.REAL)
        stated = refused(api_client.post(at(live_table, "bets"), a_bet(live_table, chip=25_00)), 409, "table-waits")
        assert stated.startswith("In your country you can play at only one table at a time.")
        assert api_client.post(at(live_table, "seat")).status_code == 200
        assert api_client.post(at(live_table, "bets"), a_bet(live_table, chip=25_00)).status_code == 200

    def test_a_token_that_only_reads_bets_nothing(self, live_table, player):
        reader = ApiClient(player.user, Scope.READ)
        refused(reader.post(at(live_table, "bets"), a_bet(live_table)), 403, "forbidden")
        assert not LiveSeat.objects.filter(player=player).exists()

    @pytest.mark.sweep
    def test_a_stopped_table_says_so(self, live_table, player):
        api_client = client_of(player)
        malfunction.report(round_id=round_at(live_table).pk, cause="for a test", by="staff:1")
        refused(api_client.post(at(live_table, "bets"), a_bet(live_table)), 409, "table-stopped")
        assert state_at(api_client, live_table)["state"]["phase"] == "stopped"

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
    def test_the_sentence_is_the_page_s_in_every_language(self, live_table, player, language):
        asked = a_bet(live_table, bet="tie", chip=500_000_00)
        page = visitor_of(player)
        page.get(f"/{language}/table/live/real/")
        sent = {"action": "bet:tie", "chip": 51_00, **{k: asked[k] for k in ("round_id", "table_version")}}
        html = page.post(f"/{language}/table/live/real/bet/", sent, headers={"HX-Request": "true"}).content.decode()
        (shown,) = re.findall(r'notice--error"[^>]*>\s*(?:<[^>]*>\s*)*([^<]+?)\s*<', html)
        stated = refused(
            client_of(player, language).post(at(live_table, "bets"), asked | {"chip": 51_00}), 422, "unknown-chip"
        )
        assert stated == shown.replace("&#x27;", "'")


@pytest.mark.sweep
def test_a_seat_at_a_shared_table_has_no_number_to_choose(live_table, player):
    api_client = client_of(player)
    answer = api_client.post(at(live_table, "seat"), {"seat": 3})
    refused(answer, 400, "invalid")
    assert answer.json()["errors"][0]["pointer"] == "/seat"
    own = api_client.post(at(live_table, "seat")).json()
    assert (own["bets"], own["balance"]) == ({}, 1_000_00)
    refused(api_client.send("delete", at(live_table, "seat")), 405, "method-not-allowed")
    refused(api_client.post(at(live_table, "decisions"), {"question": 1, "action": "pass"}), 404, "not-found")
    assert Account.objects.get(owner=player, mode=Mode.REAL, kind="cash").held == 0

"""Balances, limits, the reality check and the pause through the API: the same figures and rules as on the pages."""

from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from players.models import Exclusion, ExclusionKind, LimitChange, LimitKind, Period, Player, Scope, Session
from players.protection import exclusions, limits, play_sessions
from tests.api.at_solo import AtTable, answered, refused
from tests.api.client import ApiClient
from tests.builders import a_golden_table, a_newcomer, a_player, a_purse, a_round, a_table
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, bet, step
from tests.people import events
from wallet.cashier import what_a_player_has
from wallet.ledger import accounts, purse
from wallet.limits import usage
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
CHIP = 5000
HOUR = 3600
LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def api_client(player: Player) -> ApiClient:
    return ApiClient(player.user)


def limit(api_client: ApiClient, kind: str, period: str) -> Any:
    """One limit as the API client reads it."""
    (found,) = [
        each
        for each in answered(api_client.get("limits/"))["items"]
        if (each["kind"], each["period"]) == (kind, period)
    ]
    return found


class TestBalances:
    @pytest.mark.sweep
    def test_are_those_of_the_cashier(self, api_client, player):
        a_golden_table()
        a_purse(player, 40_000)
        live = a_live_table()
        step(live)
        bet(player, live, player=100_000)
        found, page = answered(api_client.get("balances/")), what_a_player_has(player)
        assert found["currency"] == page["currency"]
        assert found["real"] == {
            "cash": page["real"],
            "in_play": page["in_play"],
            "purse": page["purse"],
            "bank": page["bank"],
            "pending": page["pending"],
            "refund": page["refund"],
        }
        assert (found["real"]["cash"], found["real"]["in_play"], found["real"]["purse"]) == (960_000, 100_000, 40_000)
        assert found["free"]["cash"] == page["free"] == MONEY


class TestLimits:
    @pytest.mark.sweep
    def test_are_those_that_hold_with_what_counts_against_them(self, api_client, player):
        limits.set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=50_000, by=str(player))
        a_round(player, a_table(), player=CHIP)
        found = limit(api_client, "stake", "day")
        assert (found["amount"], found["own"], found["whose"]) == (50_000, 50_000, "player")
        assert found["used"] == usage(player)[LimitKind.STAKE, Period.DAY] == CHIP
        assert found["left"] == 50_000 - CHIP
        assert limit(api_client, "stake", "week")["amount"] is None
        assert len(answered(api_client.get("limits/"))["items"]) == len(LimitKind) * len(Period)

    def test_hold_at_once_where_they_are_stricter(self, api_client, player):
        made = answered(api_client.post("limits/", {"kind": "stake", "period": "day", "amount": 1000}))
        (change,) = LimitChange.objects.filter(player=player, kind=LimitKind.STAKE)
        assert datetime.fromisoformat(made["effective_at"]) == change.effective_at == change.asked_at
        assert limit(api_client, "stake", "day")["amount"] == 1000
        seat = AtTable(api_client, a_table())
        seat.open()
        refused(seat.play({"player": CHIP}), 403, "limit-reached")

    def test_that_are_looser_wait_as_the_law_says_and_can_be_withdrawn(self, api_client, player):
        api_client.post("limits/", {"kind": "stake", "period": "day", "amount": 1000})
        api_client.post("limits/", {"kind": "stake", "period": "day", "amount": 9000})
        found = limit(api_client, "stake", "day")
        assert (found["amount"], found["waiting"]["amount"]) == (1000, 9000)
        assert limits.own_limits(player)[LimitKind.STAKE, Period.DAY] == 1000
        answered(api_client.post("limits/withdrawn/", {"kind": "stake", "period": "day"}))
        assert limit(api_client, "stake", "day")["waiting"] is None
        refused(api_client.post("limits/withdrawn/", {"kind": "stake", "period": "day"}), 409, "nothing-changes")

    @pytest.mark.sweep
    def test_are_removed_when_the_law_lets_it(self, api_client):
        api_client.post("limits/", {"kind": "loss", "period": "week", "amount": 1000})
        answered(api_client.post("limits/", {"kind": "loss", "period": "week", "amount": None}))
        found = limit(api_client, "loss", "week")
        assert (found["amount"], found["waiting"]["amount"]) == (1000, None)

    def test_that_the_law_requires_are_not(self, api_client, player):
        required = limits.required(player)
        assert required
        for kind, period in required:
            answer = api_client.post("limits/", {"kind": kind.value, "period": period.value, "amount": None})
            assert refused(answer, 409, "limit-required")["detail"]
            assert limit(api_client, kind.value, period.value)["is_required"] is True

    @pytest.mark.sweep
    def test_that_change_nothing_are_refused(self, api_client):
        api_client.post("limits/", {"kind": "stake", "period": "day", "amount": 1000})
        refused(api_client.post("limits/", {"kind": "stake", "period": "day", "amount": 1000}), 409, "nothing-changes")

    @pytest.mark.sweep
    @pytest.mark.parametrize("amount", [HOUR + 1, 25 * HOUR, 0, -1, 1.5, "3600", True])
    def test_of_time_are_whole_hours_of_their_period(self, api_client, amount):
        problem = refused(
            api_client.post("limits/", {"kind": "time", "period": "day", "amount": amount}), 400, "invalid"
        )
        assert [error["pointer"] for error in problem["errors"]] == ["/amount"]
        assert not LimitChange.objects.filter(kind=LimitKind.TIME).exists()

    @pytest.mark.sweep
    def test_of_time_are_seconds(self, api_client, player):
        answered(api_client.post("limits/", {"kind": "time", "period": "day", "amount": 2 * HOUR}))
        assert limits.own_limits(player)[LimitKind.TIME, Period.DAY] == 2 * HOUR

    @pytest.mark.sweep
    def test_are_set_by_api_clients_that_may(self, player):
        for scopes in ((Scope.READ,), (Scope.READ, Scope.PLAY)):
            answer = ApiClient(player.user, *scopes).post("limits/", {"kind": "stake", "period": "day", "amount": 1000})
            refused(answer, 403, "forbidden")

    @pytest.mark.sweep
    def test_are_set_once_under_a_key(self, api_client, player):
        key, said = str(uuid4()), {"kind": "stake", "period": "day", "amount": 1000}
        first, second = (api_client.post("limits/", said, key=key) for _ in range(2))
        assert first.content == second.content
        assert LimitChange.objects.filter(player=player, kind=LimitKind.STAKE).count() == 1

    @pytest.mark.sweep
    def test_may_be_declined_where_they_are_offered(self):
        newcomer = a_newcomer("DK")
        api_client = ApiClient(newcomer.user)
        assert answered(api_client.get("limits/"))["may_decline"] is True
        assert answered(api_client.post("limits/declined/"))["may_decline"] is False
        assert len(events("limits.declined")) == 1


class TestTheRealityCheck:
    @pytest.fixture
    def at(self, api_client) -> AtTable:
        seat = AtTable(api_client, a_table())
        seat.open()
        return seat

    @pytest.mark.sweep
    def test_has_nothing_to_tell_before_the_api_client_does_something(self, api_client):
        found = answered(api_client.get("protection/check/"))
        assert (found["is_due"], found["play_session"]) == (False, None)
        assert not Session.objects.exists()

    @pytest.mark.sweep
    def test_sums_up_what_was_played_in_the_session(self, at, player):
        for _ in range(2):
            answered(at.play({"player": CHIP}))
        session = Session.objects.get()
        seen, found = (
            play_sessions.read_session(player, session.pk),
            answered(at.api_client.get("protection/check/"))["play_session"],
        )
        assert found["session"] == str(session.pk)
        assert (found["rounds"], found["real"]["staked"]) == (2, 2 * CHIP)
        assert (found["real"]["paid"], found["real"]["net"]) == (seen.paid_real, seen.net_real)
        assert accounts.balance(player.pk, Mode.REAL) == MONEY + found["real"]["net"]

    @pytest.mark.parametrize("answer", ["continue", "stop"])
    def test_is_answered_once_and_on_record(self, at, answer):
        as_owner("UPDATE players_playsession SET began = began - interval '61 minutes'")
        assert answered(at.api_client.get("protection/check/"))["is_due"] is True
        key = str(uuid4())
        for _ in range(2):
            assert answered(at.api_client.post("protection/check/", {"answer": answer}, key=key))["is_due"] is False
        (event,) = events("reality_check.answered")
        assert event["data"]["goes_on"] is (answer == "continue")


class TestThePause:
    def test_begins_at_once_and_returns_money_held_in_games(self, api_client, player):
        a_purse(player, CHIP)
        found = answered(api_client.post("protection/pause/"))
        exclusion = Exclusion.objects.get(player=player)
        assert (found["kind"], datetime.fromisoformat(found["until"])) == (ExclusionKind.PAUSE, exclusion.until)
        assert (purse.balance(player, Mode.REAL), accounts.balance(player.pk, Mode.REAL)) == (0, MONEY)
        seat = AtTable(api_client, a_table())
        assert refused(seat.open(), 403, "not-eligible")["ineligibility"] == "excluded"

    @pytest.mark.sweep
    def test_is_one_under_one_key(self, api_client):
        key = str(uuid4())
        first, second = (api_client.post("protection/pause/", key=key) for _ in range(2))
        assert first.content == second.content
        assert Exclusion.objects.count() == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_is_in_the_requested_language(self, player, language):
        found = answered(ApiClient(player.user, language=language).post("protection/pause/"))
        in_english = answered(ApiClient(player.user).post("protection/pause/"))["detail"]
        assert (found["detail"] == in_english) == (language == "en")
        assert exclusions.in_force(player)

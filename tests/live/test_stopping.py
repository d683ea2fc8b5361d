"""A shared table that stops by itself: the cases, and what it still does.

Nothing more is drawn. Drawn cards are paid, unless the supervisor must rule first.
"""

from collections.abc import Mapping

import pytest
from django.db import OperationalError, connection

from games.engine.bets import Variant
from games.models import Incident, IncidentKind, LiveRound, LiveSeat, LiveTable, Participation, Phase, Round, VoidReason
from games.shared import malfunction, moves, phases, rounds
from players.models import Player
from tests.builders import a_player
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, hurry, lay, live_table_of, make_late, round_at, step
from wallet.ledger import accounts
from wallet.models import Account, Journal, Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
SLIP = {"player": 2501, "super_6": 499}  # one of them loses in any case
STAFF = "staff:1"


@pytest.fixture
def player() -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def live_table(player: Player) -> LiveTable:
    """A table with that player's bets on its round."""
    live_table = a_live_table()
    lay(player, live_table, SLIP)
    return live_table


def balance(player: Player) -> int:
    return accounts.balance(player.pk, Mode.REAL)


def held(player: Player) -> int:
    return Account.objects.get(pk=accounts.player_account(player.pk, Mode.REAL)).held


def is_stopped(live_table: LiveTable) -> bool:
    return LiveTable.objects.get(pk=live_table.pk).stopped_by_id is not None


def incident() -> Incident:
    """Return the only incident."""
    return Incident.objects.get()


def fails_to_move(live_table: LiveTable) -> LiveRound:
    hurry(live_table)
    assert not phases.advance(live_table.pk)
    return round_at(live_table)


@pytest.mark.sweep
class TestARoundPastItsDeadline:
    @pytest.mark.parametrize("phase", [Phase.BETTING, Phase.CLOSED])
    def test_is_voided_before_its_deal(self, live_table, player, settings, phase):
        if phase == Phase.CLOSED:
            advance_to(live_table, Phase.CLOSED)
        make_late(live_table, settings.LIVE_LATE_SECONDS + 1)
        assert phases.advance(live_table.pk)
        live_round = round_at(live_table)
        assert (live_round.phase, live_round.cards) == (Phase.VOID, "")
        assert Round.objects.get(pk=live_round.pk).void.reason == VoidReason.OVERDUE
        assert (balance(player), held(player)) == (MONEY, 0)
        assert (incident().kind, incident().live_round_id) == (IncidentKind.OVERDUE, live_round.pk)
        assert is_stopped(live_table)
        assert fails_to_move(live_table).phase == Phase.VOID

    def test_is_voided_only_together_with_the_stop(self, live_table, player, settings, monkeypatch):
        """Otherwise a worker that died between the two would let the table continue."""

        def break_off(**what: object) -> None:
            raise OperationalError("the database is away")

        make_late(live_table, settings.LIVE_LATE_SECONDS + 1)
        monkeypatch.setattr(malfunction, "stop", break_off)
        with pytest.raises(OperationalError):
            phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.BETTING
        assert held(player) == 3000

    def test_is_settled_after_it(self, live_table, player, settings):
        dealt = advance_to(live_table, Phase.DEALT)
        make_late(live_table, settings.LIVE_LATE_SECONDS + 1)
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.SETTLED
        assert balance(player) == MONEY - 3000 + Participation.objects.get(round_id=dealt.pk).paid
        assert incident().kind == IncidentKind.OVERDUE
        assert is_stopped(live_table)

    def test_is_not_overdue_for_the_time_that_the_supervisor_took(self, live_table, player, settings):
        dealt = advance_to(live_table, Phase.DEALT)
        found = malfunction.report(round_id=dealt.pk, cause="A card lay face up.", by=STAFF)
        make_late(live_table, settings.LIVE_LATE_SECONDS * 10)
        malfunction.let_stand(incident_id=found.pk, reason="It was the burn card.", by=STAFF)
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.SETTLED
        assert Incident.objects.count() == 1


class TestAStoppedTable:
    def test_draws_no_card_until_it_goes_on(self, live_table, player):
        advance_to(live_table, Phase.SETTLED)
        earlier = round_at(live_table)
        step(live_table)
        lay(player, live_table, SLIP)
        found = malfunction.report(round_id=earlier.pk, cause="A player complains.", by=STAFF)
        assert fails_to_move(live_table).phase == Phase.BETTING
        malfunction.let_stand(incident_id=found.pk, reason="Nothing is wrong.", by=STAFF)
        assert fails_to_move(live_table).phase == Phase.BETTING
        malfunction.reopen(live_table_id=live_table.pk, reason="Nothing is wrong.", by=STAFF)
        assert not phases.advance(live_table.pk)  # there is time to bet again
        assert advance_to(live_table, Phase.SETTLED).number == earlier.number + 1

    def test_pays_what_was_dealt_before(self, live_table, player):
        advance_to(live_table, Phase.SETTLED)
        earlier = round_at(live_table)
        step(live_table)
        lay(player, live_table, SLIP)
        dealt = advance_to(live_table, Phase.DEALT)
        malfunction.report(round_id=earlier.pk, cause="A player complains.", by=STAFF)
        assert advance_to(live_table, Phase.SETTLED).pk == dealt.pk
        assert fails_to_move(live_table).phase == Phase.SETTLED

    def test_does_not_pay_a_round_in_doubt_until_the_supervisor_lets_it_stand(self, live_table, player):
        dealt = advance_to(live_table, Phase.DEALT)
        found = malfunction.report(round_id=dealt.pk, cause="A card lay face up.", by=STAFF)
        assert fails_to_move(live_table).phase == Phase.DEALT
        assert live_table.pk not in phases.due()
        assert (balance(player), held(player)) == (MONEY, 3000)
        malfunction.let_stand(incident_id=found.pk, reason="It was the burn card.", by=STAFF)
        assert advance_to(live_table, Phase.SETTLED).pk == dealt.pk
        assert fails_to_move(live_table).phase == Phase.SETTLED

    @pytest.mark.sweep
    def test_stops_no_other_not_even_that_of_the_other_money(self, live_table):
        dealt = advance_to(live_table, Phase.DEALT)
        malfunction.report(round_id=dealt.pk, cause="A card lay face up.", by=STAFF)
        free = live_table_of(live_table.table, Mode.FREE)
        assert phases.advance(free.pk)
        assert round_at(free).phase == Phase.BETTING


class TestAPhaseThatRaises:
    def test_rolls_back_whole_and_stops_the_table(self, live_table, player, monkeypatch):
        def break_off(*args: object, **kwargs: object) -> None:
            raise ZeroDivisionError("a fault")

        monkeypatch.setattr(moves, "close_bets", break_off)  # after everything else is done
        live_round = fails_to_move(live_table)
        assert live_round.phase == Phase.BETTING
        assert (balance(player), held(player)) == (MONEY, 3000)
        assert not Journal.objects.filter(round_id=live_round.pk).exists()
        assert (incident().kind, incident().live_round_id) == (IncidentKind.PHASE_RAISED, live_round.pk)
        assert incident().cause == "ZeroDivisionError: a fault"
        assert is_stopped(live_table)

    def test_waits_for_the_supervisor_and_is_tried_again_after_the_ruling(self, live_table, player, monkeypatch):
        def break_off(*args: object, **kwargs: object) -> None:
            raise ZeroDivisionError("a fault")

        advance_to(live_table, Phase.DEALT)
        with monkeypatch.context() as patched:
            patched.setattr(rounds, "finish", break_off)
            fails_to_move(live_table)
        assert fails_to_move(live_table).phase == Phase.DEALT
        assert Incident.objects.count() == 1
        malfunction.let_stand(incident_id=incident().pk, reason="The fault is mended.", by=STAFF)
        assert advance_to(live_table, Phase.SETTLED).phase == Phase.SETTLED

    @pytest.mark.sweep
    def test_is_called_again_where_it_raises_again_after_the_ruling(self, live_table, monkeypatch):
        def break_off(*args: object, **kwargs: object) -> None:
            raise ZeroDivisionError("a fault")

        advance_to(live_table, Phase.DEALT)
        monkeypatch.setattr(rounds, "finish", break_off)
        fails_to_move(live_table)
        malfunction.let_stand(incident_id=incident().pk, reason="It is mended, I think.", by=STAFF)
        fails_to_move(live_table)
        assert Incident.objects.count() == 2


class TestASettlementThatDoesNotRecompute:
    """Found before any money is moved for good."""

    def assert_unpaid(self, live_table: LiveTable, player: Player, kind: IncidentKind) -> Mapping[str, str]:
        live_round = fails_to_move(live_table)
        assert live_round.phase == Phase.DEALT
        assert (balance(player), held(player)) == (MONEY, 3000)
        assert not Round.objects.filter(pk=live_round.pk).exists()
        assert incident().kind == kind
        assert is_stopped(live_table)
        first: Mapping[str, str] = incident().findings[0]
        return first

    @pytest.mark.sweep
    def test_because_more_is_paid_than_the_rules_say(self, live_table, player):
        advance_to(live_table, Phase.DEALT)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_get_functiondef('games_settle_live_round'::regproc)")
            (function,) = cursor.fetchone()
            assert "WHEN 'lose' THEN 0 ELSE" in function
            rounded_up = function.replace("WHEN 'lose' THEN 0 ELSE", "WHEN 'lose' THEN 1 ELSE")
            cursor.execute("SELECT tests.as_owner(%s)", [rounded_up])
        found = self.assert_unpaid(live_table, player, IncidentKind.NOT_RECOMPUTED)
        assert (found["stored"], found["recomputed"]) == ("lose, paid 1, commission 0", "lose, paid 0, commission 0")

    @pytest.mark.parametrize(
        "slip",
        sample([{"player": 2502, "super_6": 499}, {"player": 2501}, {"player": 2501, "super_6": 499, "tie": 1}, {}], 1),
    )
    def test_because_a_slip_is_not_what_the_ledger_has_taken(self, live_table, player, slip):
        lay(a_player(real=MONEY), live_table, SLIP)  # so that the round is played even without the other slip
        update_as_owner(LiveSeat.objects.filter(player=player), stakes=slip)
        advance_to(live_table, Phase.DEALT)
        found = self.assert_unpaid(live_table, player, IncidentKind.NOT_RECOMPUTED)
        assert found["what"] == f"player:{player.pk} staked"
        assert found["recomputed"] == "3000 SEK R"

    @pytest.mark.sweep
    def test_because_a_slip_has_a_bet_that_the_game_does_not_know(self, live_table, player):
        update_as_owner(LiveSeat.objects.filter(player=player), stakes={"player": 2501, "other": 499})
        advance_to(live_table, Phase.DEALT)
        assert fails_to_move(live_table).phase == Phase.DEALT
        assert (balance(player), held(player)) == (MONEY, 3000)
        assert incident().kind == IncidentKind.PHASE_RAISED

    @pytest.mark.sweep
    def test_because_bets_lie_together_that_may_not(self, player):
        live_table = a_live_table("pairs")
        lay(player, live_table, {"player": 2501, "banker": 499})
        advance_to(live_table, Phase.DEALT)
        found = self.assert_unpaid(live_table, player, IncidentKind.NOT_RECOMPUTED)
        assert found["recomputed"].startswith("ExcludedBets")

    def test_because_the_api_client_has_other_rules_now(self, live_table, player, monkeypatch):
        advance_to(live_table, Phase.DEALT)
        known: Mapping[str, Variant] = {}
        monkeypatch.setattr(rounds, "VARIANTS", known)
        found = self.assert_unpaid(live_table, player, IncidentKind.RULES_UNKNOWN)
        assert found["recomputed"] == "no such game"

"""The event table of `no_commission`: one test for each row, named after it.

The automatic logout after nine idle minutes is in `tests/browser/test_session_timeout.py`.
"""

import html
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from audit import approvals
from games.models import Incident, LiveTable, Participation, Phase
from games.shared import malfunction, phases
from players.models import BrowserSession, Player, Session
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, hurry, round_at, slip_of
from tests.live.betting import balance, held
from tests.people import a_member_of_staff, a_visitor
from wallet.models import Entry

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
CHIP = 25_000
TABLE = "/en/table/live/real/"
HISTORY = "/en/history/"


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table()


@pytest.fixture
def player(live_table: LiveTable) -> Player:
    return a_player("SE", real=MONEY)


@pytest.fixture
def visitor(player: Player) -> Client:
    """The player's browser with the table open."""
    visitor = visitor_of(player)
    visitor.get(TABLE)
    return visitor


def visitor_of(someone: Any) -> Client:
    visitor = a_visitor()
    visitor.force_login(someone.user)
    return visitor


def click(visitor: Client, live_table: LiveTable, code: str = "player") -> Any:
    """Put a chip on a bet as the page does."""
    form = {"round_id": round_at(live_table).pk, "table_version": 1, "chip": CHIP, "action": f"bet:{code}"}
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{TABLE}"}
    return visitor.post(f"{TABLE}bet/", form, headers=headers)


def seen(answer: Any) -> str:
    return html.unescape(answer.text)


def test_gli19_4_16_connection_lost_accepted_bets_stand_and_are_settled_and_the_round_is_in_history(
    live_table, player, visitor
):
    assert "Accepted bets remain valid" in seen(visitor.get(TABLE))  # shown by the page in that case
    click(visitor, live_table)
    other = a_player("SE", real=MONEY)
    bet(other, live_table, banker=CHIP)
    settled = advance_to(live_table, Phase.SETTLED)  # without contact in the meantime
    for each in (player, other):
        part = Participation.objects.get(round_id=settled.pk, player=each)
        assert (part.staked, balance(each)) == (CHIP, MONEY - CHIP + part.paid)
    assert settled.code in seen(visitor.get(HISTORY))


@pytest.mark.sweep
@pytest.mark.parametrize("phase", sample([Phase.BETTING, Phase.CLOSED], 1))
def test_round_cancelled_everyone_at_the_table_is_informed_every_stake_is_returned_and_history_has_its_cross(
    live_table, player, visitor, phase
):
    click(visitor, live_table)
    live_round = round_at(live_table) if phase == Phase.BETTING else advance_to(live_table, phase)
    malfunction.cancel(round_id=live_round.pk, reason="The light went out.", by="staff:7")
    assert (balance(player), held(player)) == (MONEY, 0)
    onlooker = visitor_of(a_player("DK", real=MONEY))
    for each in (onlooker, visitor):
        assert "This round was voided" in seen(each.get(TABLE))
    history = seen(visitor.get(HISTORY))
    assert live_round.code in history
    assert "✕" in history


class TestAnythingOutOfTheOrdinaryTheShiftSupervisorDecides:
    FORM = {"reason": "A player knocked over the shoe.", "sure": "on"}

    @pytest.fixture
    def incident(self, live_table: LiveTable, visitor: Client) -> Incident:
        """Report a round after its cards are drawn, so that the table stops."""
        click(visitor, live_table)
        live_round = advance_to(live_table, Phase.DEALT)
        visitor_of(a_member_of_staff("operator")).post(f"/staff/rounds/{live_round.pk}/report/", self.FORM)
        incident = Incident.objects.get()
        assert LiveTable.objects.get(pk=live_table.pk).stopped_by == incident
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        return incident

    @pytest.mark.sweep
    def test_gli19_b_2_3_that_the_round_is_void_together_with_another(self, live_table, player, incident):
        supervisor, second = (visitor_of(a_member_of_staff(role)) for role in ("supervisor", "supervisor"))
        supervisor.post(f"/staff/incidents/{incident.pk}/ruling/", self.FORM | {"decision": "void"})
        assert held(player) == CHIP
        asked = approvals.waiting().get()
        second.post(f"/staff/approvals/{asked.pk}/decide/", {"yes": "1", "reason": "I saw it."})
        assert (round_at(live_table).phase, held(player), balance(player)) == (Phase.VOID, 0, MONEY)

    @pytest.mark.sweep
    def test_a_round_ruled_to_stand(self, live_table, incident):
        supervisor = visitor_of(a_member_of_staff("supervisor"))
        supervisor.post(f"/staff/incidents/{incident.pk}/ruling/", self.FORM | {"decision": "stands"})
        assert advance_to(live_table, Phase.SETTLED).pk == incident.live_round_id
        hurry(live_table)
        assert not phases.advance(live_table.pk)
        supervisor.post(f"/staff/tables/live/{live_table.pk}/reopen/", {"reason": "quiet again"})
        assert advance_to(live_table, Phase.BETTING)


def idle(session: Session) -> None:
    acted_at = session.acted_at - timedelta(seconds=settings.PLAYER_IDLE_SECONDS + 1)
    Session.objects.filter(pk=session.pk).update(acted_at=acted_at)


def forgotten(session: Session) -> None:
    """End the session as a server restart with in-memory sessions would; ours survive it."""
    BrowserSession.objects.all().delete()


@pytest.mark.sweep
@pytest.mark.parametrize("end", sample([idle, forgotten], 1))
def test_session_no_longer_valid_an_error_says_so_and_after_logging_in_again_play_goes_on(
    live_table, player, visitor, end
):
    click(visitor, live_table)
    end(Session.objects.get(user=player.user))
    answer = click(visitor, live_table, "tie")
    assert "Your session has ended. Log in to continue." in seen(visitor.get(answer["HX-Redirect"]))
    assert slip_of(player, round_at(live_table)) == {"player": CHIP}
    assert (visitor.get(f"{TABLE}now/").status_code, held(player)) == (302, CHIP)
    visitor.force_login(player.user)
    assert "250.00" in seen(visitor.get(TABLE))
    click(visitor, live_table, "tie")
    assert slip_of(player, round_at(live_table)) == {"player": CHIP, "tie": CHIP}


@pytest.mark.sweep
def test_balance_too_low_on_clicking_a_bet_not_enough_balance_and_nothing_is_debited(live_table):
    poor = a_player("SE", real=CHIP - 1)
    visitor = visitor_of(poor)
    visitor.get(TABLE)
    answer = click(visitor, live_table)
    assert answer.status_code == 200
    assert "Insufficient balance" in seen(answer)
    assert 'href="/en/cashier/"' in answer.text
    assert (held(poor), balance(poor)) == (0, CHIP - 1)


@pytest.mark.sweep
@pytest.mark.parametrize("phase", sample([Phase.CLOSED, Phase.DEALT, Phase.SETTLED], 1))
def test_a_bet_that_reaches_the_server_after_no_more_bets_arrived_too_late_and_nothing_is_debited(
    live_table, player, visitor, phase
):
    bet(a_player("SE", real=MONEY), live_table, player=CHIP)  # so that the round is played
    advance_to(live_table, phase)
    entries = Entry.objects.count()
    assert "Bet received too late" in seen(click(visitor, live_table))
    assert (held(player), balance(player), Entry.objects.count()) == (0, MONEY, entries)

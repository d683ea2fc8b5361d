"""Staff and processes that decide about a table at the same time."""

from concurrent.futures import Future
from threading import Event

import pytest
from django.db import transaction

from games.errors import TableStopped
from games.models import Incident, IncidentKind, LiveRound, LiveTable, Phase
from games.shared import malfunction
from games.shared.malfunction import MalfunctionError
from players.models import Mail
from tests.builders import a_player, a_round, a_table
from tests.live.at_table import a_live_table, advance_to, bet
from tests.live.test_bets_at_once import PATIENCE, in_a_thread, somebody_is_blocked, until
from tests.people import a_member_of_staff

STAFF = "staff:1"


@pytest.fixture
def live_table(cloned_db) -> LiveTable:
    """A table stopped for a finished round that has been ruled on; the next round takes bets."""
    live_table = a_live_table()
    bet(a_player(real=1_000_000), live_table, player=5000)
    first = advance_to(live_table, Phase.SETTLED)
    advance_to(live_table, Phase.BETTING)
    found = malfunction.report(round_id=first.pk, cause="A player complains.", by=STAFF)
    malfunction.let_stand(incident_id=found.pk, reason="Seen.", by=STAFF)
    return live_table


def stop_and_wait(live_table: LiveTable, has_stopped: Event, may_end: Event) -> str:
    """Find an error in the finished round, and commit after a delay."""
    finished = LiveRound.objects.get(live_table=live_table, phase=Phase.SETTLED)
    with transaction.atomic():
        malfunction.stop(live_round=finished, kind=IncidentKind.NOT_RECOMPUTED, cause="Found.", found=(), by="system")
        has_stopped.set()
        assert may_end.wait(PATIENCE)
    return "stopped"


def reopen(live_table: LiveTable) -> str:
    try:
        malfunction.reopen(live_table_id=live_table.pk, reason="Seen.", by=STAFF)
    except MalfunctionError as error:
        return str(error)
    return "reopened"


def test_a_table_that_is_reopened_while_something_new_is_found_stays_stopped(live_table):
    has_stopped, may_end = Event(), Event()
    stopping: Future[str] = in_a_thread(lambda: stop_and_wait(live_table, has_stopped, may_end))
    assert has_stopped.wait(PATIENCE)
    reopening = in_a_thread(lambda: reopen(live_table))
    until(lambda: somebody_is_blocked() or reopening.done())
    may_end.set()
    assert stopping.result(PATIENCE) == "stopped"
    assert "stays stopped" in reopening.result(PATIENCE)
    assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id is not None
    with pytest.raises(TableStopped):
        bet(a_player(real=1_000_000), live_table, player=5000)


def test_of_two_who_report_a_solo_round_at_once_one_does(cloned_db):
    supervisor = a_member_of_staff("supervisor")
    round_id = a_round(a_player(real=1_000_000), a_table(), player=1000).round_id
    has_reported, may_end = Event(), Event()

    def report_and_wait() -> str:
        with transaction.atomic():
            malfunction.report(round_id=round_id, cause="A card lay face up.", by=STAFF)
            has_reported.set()
            assert may_end.wait(PATIENCE)
        return "reported"

    def report() -> str:
        try:
            malfunction.report(round_id=round_id, cause="A card lay face up.", by="staff:2")
        except MalfunctionError as error:
            return str(error)
        return "reported"

    first = in_a_thread(report_and_wait)
    assert has_reported.wait(PATIENCE)
    second = in_a_thread(report)
    until(lambda: somebody_is_blocked() or second.done())
    may_end.set()
    assert first.result(PATIENCE) == "reported"
    assert f"is already reported: incident {Incident.objects.get().pk}." in second.result(PATIENCE)
    assert Mail.objects.filter(user=supervisor.user).count() == 1

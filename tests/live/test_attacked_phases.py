"""A table whose phase change PostgreSQL refuses repeatedly although it is reachable: not an outage."""

import pytest
from django.db import OperationalError, connection

from games.models import Incident, IncidentKind, LiveTable, Phase
from games.shared import malfunction, phases, rounds
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table, advance_to, bet, make_late, round_at

pytestmark = pytest.mark.django_db


def takes_too_long(*_: object) -> None:
    """Fail like a statement that exceeds PostgreSQL's timeout."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '1ms'")
        cursor.execute("SELECT pg_sleep(60)")


@pytest.fixture
def live_table() -> LiveTable:
    live_table = a_live_table()
    bet(a_player(real=1_000_000), live_table, player=5000)
    return live_table


def refuses(live_table: LiveTable) -> None:
    with pytest.raises(OperationalError):
        phases.advance(live_table.pk)


def is_stopped(live_table: LiveTable) -> bool:
    return LiveTable.objects.get(pk=live_table.pk).stopped_by_id is not None


def test_is_tried_again_and_again_and_stopped_when_it_is_overdue(live_table, settings, monkeypatch):
    monkeypatch.setattr(rounds, "settle", takes_too_long)
    dealt = advance_to(live_table, Phase.DEALT)
    make_late(live_table, 1)
    refuses(live_table)
    refuses(live_table)
    assert not is_stopped(live_table)
    make_late(live_table, settings.LIVE_LATE_SECONDS + 1)
    assert not phases.advance(live_table.pk)
    assert is_stopped(live_table)
    found = Incident.objects.get(live_round=dealt)
    assert found.kind == IncidentKind.PHASE_RAISED
    assert "OperationalError" in found.cause


def test_is_stopped_too_where_what_fails_comes_after_the_new_deadline_is_written(live_table, settings, monkeypatch):
    advance_to(live_table, Phase.DEALT)
    done = rounds.finish

    def finish(live_round):
        done(live_round)
        takes_too_long()

    monkeypatch.setattr(rounds, "finish", finish)
    make_late(live_table, settings.LIVE_LATE_SECONDS + 1)
    assert not phases.advance(live_table.pk)
    assert is_stopped(live_table)


def test_is_found_again_when_it_still_cannot_be_settled_after_the_ruling(live_table, settings, monkeypatch):
    dealt = advance_to(live_table, Phase.DEALT)
    monkeypatch.setattr(rounds, "settle", takes_too_long)
    make_late(live_table, settings.LIVE_LATE_SECONDS + 1)
    assert not phases.advance(live_table.pk)
    first = Incident.objects.get()
    ruling = malfunction.let_stand(incident_id=first.pk, reason="Seen.", by="staff:1")
    refuses(live_table)  # right after the ruling the table tries again
    as_owner("UPDATE games_liveround SET deadline = deadline - interval '1 hour' WHERE id = %s", [dealt.pk])
    refuses(live_table)
    assert Incident.objects.count() == 1
    settings.LIVE_LATE_SECONDS = 0  # as if this much time had passed since the ruling
    assert not phases.advance(live_table.pk)
    assert Incident.objects.filter(live_round=dealt).count() == 2
    assert ruling.incident_id == first.pk
    assert round_at(live_table).phase == Phase.DEALT

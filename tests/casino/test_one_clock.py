"""All times are those of the database, not those of the clock of a web process or worker."""

from datetime import UTC, datetime

import pytest
import time_machine
from django.db import connection

from audit.models import Event
from audit.reports.heading import Head
from games.models import Participation
from tests.audit.reporting import a_kind, asked, made_here, registered
from tests.builders import a_player, a_round, a_table
from wallet.models import Journal


def database_time() -> datetime:
    """Return the current time of the database, not that of the transaction's start."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return moment


@pytest.mark.django_db
def test_gli19_2_2_games_and_events_are_stamped_by_the_clock_of_the_database():
    player, table = a_player(real=100_000), a_table()
    with connection.cursor() as cursor:  # `now()` is the start of the transaction, and a test is one
        cursor.execute("SELECT now()")
        (begun,) = cursor.fetchone()
    with time_machine.travel(datetime(2042, 1, 1, tzinfo=UTC), tick=False):
        a_round(player, table, player=1000)
    ended = database_time()
    part = Participation.objects.select_related("round").get()
    stamps = [part.at, part.round.at]
    stamps += Event.objects.filter(on=f"round:{part.round_id}").values_list("at", flat=True)
    stamps += Journal.objects.filter(round_id=part.round_id).values_list("at", flat=True)
    assert len(stamps) >= 5
    assert [stamp for stamp in stamps if not begun <= stamp <= ended] == []
    assert {stamp.utcoffset() for stamp in stamps} == {UTC.utcoffset(None)}


@pytest.mark.django_db
def test_gli19_2_2_reports_are_stamped_by_the_same_clock():
    before = database_time()
    with registered(a_kind()), time_machine.travel(datetime(2042, 1, 1, tzinfo=UTC), tick=False):
        report = made_here(asked())
    assert report.made_at is not None
    assert report.head is not None
    (shown,) = [text for name, text in Head.read(report.head).lines if name == "Generated at"]
    assert before <= report.made_at <= database_time()
    assert datetime.fromisoformat(shown) == report.made_at.replace(microsecond=0)
    assert report.until <= report.made_at

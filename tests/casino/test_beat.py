"""The clock of the house, and its line to the broker: what happens when what they need is away."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from celery import Celery
from celery.schedules import crontab

from casino.beat import ADVISORY_LOCK, GuardedScheduler, TurnLost, take_turn
from casino.celery import EXPIRES, LONGEST_WAIT, app
from tests.harness.databases import Database

TRIES = 4


class Enough(Exception):
    """Seen enough."""


@pytest.fixture
def scheduler(cloned_db: Database, tmp_path: Path) -> Iterator[GuardedScheduler]:
    """A beat at work that has nothing to send."""
    nothing_to_do = Celery(broker="memory://", set_as_current=False)
    made = GuardedScheduler(take_turn(print), nothing_to_do, schedule_filename=str(tmp_path / "schedule"))
    yield made
    made.close()
    made._guard.close()


@pytest.fixture
def superuser(cloned_db: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as connection:
        yield connection


def cut_off(superuser: psycopg.Connection) -> None:
    """End the session of whoever works as beat, and with it the lock; wait until it is gone."""
    of_beat = "FROM pg_locks WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32 | objid::bigint) = %s"
    superuser.execute(f"SELECT pg_terminate_backend(pid, 60000) {of_beat}", [ADVISORY_LOCK])
    assert superuser.execute(f"SELECT pid {of_beat}", [ADVISORY_LOCK]).fetchall() == []


def test_beat_whose_database_was_away_takes_its_turn_again_and_goes_on(scheduler, superuser):
    scheduler.tick()
    cut_off(superuser)
    scheduler.tick()
    assert superuser.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK]).fetchone() == (False,)


def test_beat_ends_where_another_was_faster(scheduler, superuser):
    cut_off(superuser)
    assert superuser.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK]).fetchone() == (True,)
    with pytest.raises(TurnLost):
        scheduler.tick()


def test_the_broker_is_tried_again_soon_however_long_it_has_been_away(tmp_path):
    waits = []

    def note(error: Exception, wait: float) -> None:
        waits.append(wait)
        if len(waits) == TRIES:
            raise Enough

    with pytest.raises(Enough):
        app.connection_for_read(f"redis+socket://{tmp_path}/nobody.sock").ensure_connection(note)
    assert waits == [LONGEST_WAIT] * TRIES
    assert app.conf.broker_connection_max_retries is None


def test_whatever_is_asked_for_every_minute_or_more_often_expires_so_that_no_backlog_delays_the_tables():
    often = {
        name: entry.get("options", {}).get("expires")
        for name, entry in app.conf.beat_schedule.items()
        if entry["schedule"] == crontab() or isinstance(entry["schedule"], float)
    }
    assert len(often) > 5
    assert all(expires and expires <= EXPIRES["expires"] for expires in often.values()), often

"""The scheduler and its broker connection, also when the database or the broker fails."""

import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from celery import Celery
from celery.beat import ScheduleEntry
from celery.schedules import crontab
from django.db import connections

from accounts.tasks import finish_closing
from casino.celery import EXPIRES, LONGEST_WAIT, app
from games.chemin import tick as chemin_tick
from games.models import LiveTable, Table
from games.shared import phases
from ops import beat
from ops.beat import ADVISORY_LOCK, CHANNEL, LONGEST_SILENCE, GuardedScheduler, Turn, TurnLost
from players import mail, notify
from players.account import closures
from players.models import ClosureState, Player
from players.notify import notify_table
from tests.audit.reporting import asked
from tests.builders import a_player, a_purse, a_round, a_shared_table, a_table, a_verified_player
from tests.chemin.at_table import a_chemin_table, sit
from tests.harness.databases import Database
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.harness.web import PROJECT
from tests.live.at_table import a_live_table, bet, hurry, make_late, round_at
from tests.people import a_visitor
from tests.voiding import agree_to_void

TRIES = 4
ROUND_TRIP = 6  # phases, more than between two openings


class Enough(Exception):
    """Ends the loop."""


@pytest.fixture
def scheduler(cloned_db: Database, tmp_path: Path) -> Iterator[GuardedScheduler]:
    """A running beat without anything to send."""
    nothing_to_do = Celery(broker="memory://", set_as_current=False)
    turn = Turn(connections["default"].settings_dict)
    turn.wait(print)
    made = GuardedScheduler(turn, nothing_to_do, schedule_filename=str(tmp_path / "schedule"))
    yield made
    made.close()
    turn.connection.close()


@pytest.fixture
def superuser(cloned_db: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as connection:
        yield connection


def cut_off(superuser: psycopg.Connection) -> None:
    """End the session of the active beat, and with it the lock; wait until it is gone."""
    of_beat = """
        FROM pg_locks WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32 | objid::bigint) = %s
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """
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


@pytest.mark.sweep
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


ASKED = [name for name, entry in app.conf.beat_schedule.items() if entry["task"] in beat.QUESTIONS]


def test_each_question_is_about_a_task_that_beat_sends():
    assert len(ASKED) == len(beat.QUESTIONS)


@pytest.mark.parametrize("task", sample(beat.QUESTIONS, 6))
def test_each_question_is_one_that_web_s_role_may_ask(cloned_db: Database, task: str):
    with psycopg.connect(cloned_db.web_url) as web:
        assert web.execute(f"SELECT EXISTS ({beat.QUESTIONS[task]})".encode()).fetchone() in [(True,), (False,)]


class Sent(GuardedScheduler):
    """A beat that records what it sends."""

    sent: list[str]

    def apply_async(self, entry: ScheduleEntry, *args: object, **kwargs: object) -> None:
        """Record the task without sending it."""
        self.sent.append(str(entry.task))


@pytest.fixture
def sending(scheduler: GuardedScheduler) -> Sent:
    """Return a running beat that records what it sends, after it has just sent everything once."""
    scheduler.__class__ = Sent
    assert isinstance(scheduler, Sent)
    scheduler._sent_at = dict.fromkeys(beat.QUESTIONS, time.monotonic())
    scheduler.sent = []
    return scheduler


def ask(beat: Sent, task: str) -> list[str]:
    """Make a task due, some seconds after the last time, and return what is sent."""
    beat._rests_until.clear()
    beat.apply_entry(ScheduleEntry(name=task, task=task, app=beat.app))
    return beat.sent


@pytest.mark.sweep
def test_nothing_is_sent_for_a_house_without_tables(sending: Sent):
    assert ask(sending, "games.tasks.tick") == ask(sending, "games.tasks.tick_chemin") == []


@pytest.fixture
def somebody(superuser: psycopg.Connection) -> Iterator[None]:
    """A web process that serves a stream."""
    superuser.execute(beat.ARRIVE)
    yield
    superuser.execute(beat.LEAVE)


@pytest.mark.usefixtures("somebody")
def test_a_shared_table_advances_in_each_phase_once_it_is_due_and_not_before(sending: Sent):
    live_table = a_live_table()
    bet(a_player(real=100_00), live_table, banker=50_00)
    for other in LiveTable.objects.exclude(pk=live_table.pk):  # for other money
        assert phases.advance(other.pk)
    for _ in range(ROUND_TRIP):
        assert (phases.due(), ask(sending, "games.tasks.tick")) == ([], []), round_at(live_table).phase
        hurry(live_table)
        assert phases.due() == [live_table.pk]
        assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"], round_at(live_table).phase
        assert phases.advance(live_table.pk)
        sending.sent.clear()


def test_betting_time_that_passes_without_a_bet_waits_for_somebody_to_watch(sending: Sent, superuser):
    live_table = a_live_table()
    assert all(phases.advance(other.pk) for other in LiveTable.objects.exclude(pk=live_table.pk))  # for other money
    hurry(live_table)
    assert (phases.late(), ask(sending, "games.tasks.tick")) == ([], [])
    superuser.execute(beat.ARRIVE)
    assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"]
    superuser.execute(beat.LEAVE)
    sending.sent.clear()
    assert ask(sending, "games.tasks.tick") == []
    assert phases.advance(live_table.pk)
    bet(a_player(real=100_00), live_table, banker=50_00)
    hurry(live_table)
    assert (phases.late(), ask(sending, "games.tasks.tick")) == ([live_table.pk], ["games.tasks.tick"])


@pytest.fixture
def statements(sending: Sent, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that makes the tables due and returns how many statements beat made for it."""
    entry = ScheduleEntry(name="tick", task="games.tasks.tick", app=sending.app)
    made: list[object] = []
    execute: Any = sending._turn.connection.execute

    def counted(*given: Any) -> Any:
        made.append(given)
        return execute(*given)

    monkeypatch.setattr(sending._turn.connection, "execute", counted)

    def ask_once() -> int:
        made.clear()
        sending.tick()
        sending.apply_entry(entry)
        return len(made)

    return ask_once


def until_notified(beat: Sent) -> None:
    """Wait until PostgreSQL has passed a notification on."""
    assert select.select([beat._turn.connection.fileno()], [], [], 60)[0]


def hear_all(beat: Sent, superuser: psycopg.Connection) -> None:
    """Let *beat* hear every notification that was sent before: PostgreSQL passes them on in order, sometimes late."""
    heard: list[psycopg.Notify] = []
    beat._turn.connection.add_notify_handler(heard.append)
    superuser.execute("SELECT pg_notify(%s, 'the last')", [CHANNEL])
    while "the last" not in [notification.payload for notification in heard]:
        until_notified(beat)
        beat._turn.connection.execute("SELECT 1")
    beat._turn.connection.remove_notify_handler(heard.append)


def test_tables_are_asked_about_when_something_may_be_due(
    statements: Callable[[], int], sending: Sent, superuser: psycopg.Connection
):
    live_table = a_live_table()
    assert all(phases.advance(other.pk) for other in LiveTable.objects.exclude(pk=live_table.pk))  # for other money
    hear_all(sending, superuser)
    assert [statements(), statements(), statements()] == [1, 0, 0]  # the next deadline is far away
    notify_table(live_table.pk)
    until_notified(sending)
    assert [statements(), statements()] == [1, 0]
    make_late(live_table, -0.05)
    notify_table(live_table.pk)
    until_notified(sending)
    assert statements() == 1
    assert sending._rests_until["games.tasks.tick"] - time.monotonic() < 0.1  # for that deadline, not five seconds


def test_beat_hears_that_somebody_watches(
    statements: Callable[[], int], sending: Sent, superuser: psycopg.Connection
) -> None:
    assert [statements(), statements()] == [1, 0]
    superuser.execute(beat.ARRIVE)
    until_notified(sending)
    assert statements() == 1
    superuser.execute(beat.LEAVE)


def test_beat_listens_where_changes_are_notified():
    assert CHANNEL == notify.CHANNEL


@pytest.mark.parametrize("status", ["paused", "closed"])
def test_betting_time_without_a_bet_ends_where_the_table_is_not_open(sending: Sent, status: str):
    live_table = a_live_table()
    update_as_owner(Table.objects.filter(pk=live_table.table_id), status=status)
    hurry(live_table)
    assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"]


@pytest.mark.sweep
def test_a_shared_table_without_a_round_advances(sending: Sent):
    a_shared_table("no_commission")
    assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"]


@pytest.mark.sweep
def test_a_table_closed_in_a_round_advances_until_the_round_is_over(sending: Sent):
    live_table = a_live_table()
    bet(a_player(real=100_00), live_table, banker=50_00)
    update_as_owner(Table.objects.filter(pk=live_table.table_id), status="closed")
    hurry(live_table)
    while phases.due():
        assert ask(sending, "games.tasks.tick"), round_at(live_table).phase
        assert phases.advance(live_table.pk)
        hurry(live_table)
        sending.sent.clear()
    assert ask(sending, "games.tasks.tick") == []


def test_a_chemin_table_is_checked_while_anybody_is_seated(sending: Sent):
    live_table = a_chemin_table()
    assert (chemin_tick.due(), ask(sending, "games.tasks.tick_chemin")) == ([], [])
    sit(a_player(real=1000_00), live_table)
    assert ask(sending, "games.tasks.tick_chemin") == ["games.tasks.tick_chemin"]


def test_a_task_of_which_nothing_is_asked_is_always_sent(sending: Sent):
    assert ask(sending, "audit.tasks.set_watermark") == ["audit.tasks.set_watermark"]


def checks_in(player: Player) -> None:
    visitor = a_visitor()
    visitor.force_login(player.user)
    assert visitor.get("/en/").status_code == 200


def an_approval_expires(superuser: psycopg.Connection) -> None:
    superuser.execute("SET session_replication_role = replica")  # without the guards
    superuser.execute("DELETE FROM audit_decision")
    superuser.execute("UPDATE audit_approval SET expires_at = clock_timestamp()")


def an_hour_is_over(superuser: psycopg.Connection) -> None:
    superuser.execute("SET session_replication_role = replica")  # without the guards
    superuser.execute(
        "INSERT INTO audit_watermark (at, transaction) VALUES (clock_timestamp(), 1) ON CONFLICT DO NOTHING"
    )
    superuser.execute(
        "INSERT INTO audit_rolled (totals, hour, rows, at)"
        " VALUES ('any', date_trunc('hour', clock_timestamp(), 'UTC') - interval '3 hours', 0, clock_timestamp())"
    )


def test_what_a_house_has_to_do_each_minute_is_sent_once_there_is_something_to_do(
    sending: Sent, superuser: psycopg.Connection
):
    """A check that wrongly says no would leave the work undone for `LONGEST_SILENCE`."""
    player, table = a_player(real=1_000_00), a_table()
    steps: dict[str, Callable[[], object]] = {
        "games.tasks.return_idle_purses": lambda: a_purse(player, 100_00),
        "games.tasks.verify_finished_rounds": lambda: a_round(player, table, player=1000),
        "players.tasks.end_idle_sessions": lambda: checks_in(player),
        "players.tasks.mail_approvals": lambda: agree_to_void(uuid4()),
        "audit.tasks.sum_up": lambda: an_hour_is_over(superuser),
        "audit.tasks.expire_approvals": lambda: an_approval_expires(superuser),
        "players.tasks.send_mail": lambda: mail.write(user=player.user, template="account_locked", context={}),
        "audit.tasks.make_reports": lambda: asked("alterations"),
        "accounts.tasks.finish_closing": lambda: closures.begin(player=player, ip=""),
    }
    for task, step in steps.items():
        sending.sent.clear()
        assert ask(sending, task) == [], task
        step()
        assert ask(sending, task) == [task]


def test_money_that_reaches_a_closed_account_is_sent_back_at_once(sending: Sent, superuser: psycopg.Connection):
    player = a_verified_player(real=0)
    closures.begin(player=player, ip="")
    finish_closing()
    assert closures.state_of(player) is ClosureState.CLOSED
    assert ask(sending, "accounts.tasks.finish_closing") == []
    superuser.execute("SET session_replication_role = replica")  # without the guards
    superuser.execute("UPDATE wallet_account SET balance = 1 WHERE owner_id = %s AND kind = 'cash'", [player.pk])
    assert ask(sending, "accounts.tasks.finish_closing") == ["accounts.tasks.finish_closing"]


def test_a_task_is_sent_now_and_then_without_a_notification(sending: Sent):
    sending._sent_at["games.tasks.tick"] -= LONGEST_SILENCE + 1
    assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"]
    assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"], "and then not again"


def test_a_question_that_the_database_cannot_answer_sends_the_task(sending: Sent, superuser: psycopg.Connection):
    cut_off(superuser)
    assert ask(sending, "games.tasks.tick") == ["games.tasks.tick"]


@pytest.mark.sweep
def test_it_loads_neither_django_s_apps_nor_any_model():
    asked = "import sys, ops.beat; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=PROJECT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "ops.beat" in loaded
    assert not loaded & {
        "django.apps.registry",
        "django.db.models",
        "django.http",
        "games",
        "wallet",
        "players",
        "audit",
    }

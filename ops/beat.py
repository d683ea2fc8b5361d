"""Scheduler, `manage.py beat`: Celery beat, of which only one works at a time, however many start.

It sends task names and uses no models, so it does not load Django's apps, which halves its memory.
The application_name of its PostgreSQL connection contains the host name (`name`), whether it is
active or standing by.

`QUESTIONS` has one cheap statement for each frequent task, which tells beat whether the task has
work. A task without work costs a message, a worker thread and more statements. A query may return
rows although the task then finds nothing, because the task decides itself. It must never return
none if the task would find work.

The tables are due each second, but are asked about only when the next deadline has passed, when a
notification has come, or after five seconds.
"""

import logging.config
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from socket import gethostname
from typing import Any, Final

import django
import psycopg
from celery import Celery
from celery.beat import PersistentScheduler, ScheduleEntry, Service
from django.conf import settings

from ops import embedded, forked, logs

# Presence of viewers: each web process holds a shared advisory lock while it serves streams.
# PostgreSQL frees the lock with the connection, so a process that dies leaves nothing behind.
NAMESPACE: Final = 5072  # of an advisory lock with two keys; the second is 0
CHANNEL: Final = "sabot_live"  # that of `players.notify`, which would load Django's database layer into beat
# Beat is notified too.
ARRIVE: Final = f"SELECT pg_advisory_lock_shared({NAMESPACE}, 0), pg_notify('{CHANNEL}', 'presence 0')"
LEAVE: Final = f"SELECT pg_advisory_unlock_shared({NAMESPACE}, 0)"
SOMEBODY_WATCHES: Final = f"""EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = {NAMESPACE}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)"""  # noqa: S608  (a number of our own)
"""SQL condition: at least one stream is open."""

# A table without a dealt round advances only while it is open and not stopped. Betting time that
# passed without a bet waits for the next visitor: nothing depends on it (`games.shared.phases`).
SHARED_TABLES: Final = f"""
SELECT FROM games_livetable AS live
JOIN games_table AS game_table ON game_table.id = live.table_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
WHERE game_table.shape = 'shared' AND (round.id IS NULL OR round.deadline <= clock_timestamp())
    AND NOT EXISTS (
        SELECT FROM games_shoecut AS cut WHERE cut.live_table_id = live.id AND cut.open_until > clock_timestamp())
    AND (round.phase = 'dealt' OR live.stopped_by_id IS NULL
        AND (game_table.status = 'open' OR round.phase IN ('betting', 'closed')))
    AND (round.phase IS DISTINCT FROM 'betting' OR game_table.status <> 'open'
        OR EXISTS (SELECT FROM games_liveseat AS bettor WHERE bettor.round_id = round.id AND bettor.stakes <> '{{}}')
        OR EXISTS (SELECT FROM wallet_housestop WHERE ended_at IS NULL)
        OR {SOMEBODY_WATCHES})
"""  # noqa: S608  (nothing but our own condition)
# With a seated player there is more to check than deadlines: ended sessions and absent players.
CHEMIN_TABLES: Final = """
SELECT FROM games_cheminseat WHERE left_at IS NULL
UNION ALL
SELECT FROM games_chemintable AS chemin WHERE deadline <= clock_timestamp() OR state ->> 'phase' = 'shoe'
    AND NOT EXISTS (SELECT FROM games_shoecut AS cut
                    WHERE cut.live_table_id = chemin.live_table_id AND cut.open_until > clock_timestamp())
"""
VERSIONS: Final = """
SELECT FROM games_scheduledversion AS version WHERE due_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM games_scheduleending AS ending WHERE ending.approval_id = version.approval_id)
"""
PAYOUTS: Final = "SELECT FROM wallet_withdrawal WHERE status IN ('approved', 'sending')"
UNDECIDED_PAYMENTS: Final = "SELECT FROM wallet_payment WHERE state = 'waiting' OR is_disputed"
HELD_DEPOSITS: Final = "SELECT FROM wallet_payment WHERE state = 'held'"
SANDBOX_PAYOUTS: Final = """
SELECT FROM wallet_bank_payout WHERE state = 'accepted' AND due_at <= clock_timestamp()
UNION ALL
SELECT FROM wallet_bank_payout_notice WHERE sent_at IS NULL AND due_at <= clock_timestamp()
"""
SANDBOX_NOTICES: Final = "SELECT FROM wallet_bank_notice WHERE sent_at IS NULL AND due_at <= clock_timestamp()"
OPERATORS: Final = "SELECT FROM wallet_operator_message WHERE state = 'waiting' AND due_at <= clock_timestamp()"
BETS_AT_OPERATORS: Final = "SELECT FROM wallet_operator_bet WHERE state = 'asked'"
# Leaves without a checkpoint are included: they are signed later where the signer was unavailable.
EVENTS: Final = """
SELECT FROM audit_pending
UNION ALL
SELECT FROM audit_leaf WHERE leaf >= (SELECT coalesce(max(size), 0) FROM audit_checkpoint)
"""
"""Events that are not sealed and signed yet."""
# The same task sets the pulse that is used to find a standstill of two minutes.
SIGNIFICANT: Final = """
SELECT FROM audit_leaf WHERE leaf >= (SELECT coalesce(min(leaves), 0) FROM audit_cursor)
UNION ALL
SELECT WHERE NOT EXISTS (
    SELECT FROM audit_pulse WHERE who = 'workers' AND at > clock_timestamp() - interval '45 seconds'
)
"""
# New hourly totals have no row yet: they are summed up when beat restarts with them.
HOURLY_TOTALS: Final = """
SELECT FROM audit_rolled GROUP BY totals
HAVING max(hour) + interval '1 hour' < date_trunc('hour', audit_settled(), 'UTC')
"""
ALERTS: Final = "SELECT FROM audit_significant WHERE weight = 2 AND mailed_at IS NULL"
# The task also ends an active alarm.
LAG: Final = """
SELECT FROM audit_pending
UNION ALL
SELECT FROM audit_leaf WHERE leaf >= (SELECT coalesce(max(size), 0) FROM audit_checkpoint)
UNION ALL
SELECT WHERE (SELECT max(id) FROM audit_event WHERE kind = 'log.lags')
    > (SELECT coalesce(max(id), 0) FROM audit_event WHERE kind = 'log.caught_up')
"""
PURSES: Final = "SELECT FROM wallet_account WHERE kind = 'purse' AND balance > 0"
ROUNDS_TO_VERIFY: Final = "SELECT FROM games_verificationdue"
SEEDS: Final = "SELECT FROM games_shoe WHERE seed IS NULL AND ended_at > clock_timestamp() - interval '1 day'"
LETTERS: Final = """
SELECT FROM games_incidentletter AS letter
WHERE NOT EXISTS (SELECT FROM games_letterend AS ending WHERE ending.letter_id = letter.id)
"""
APPROVAL_NOTIFICATIONS: Final = "SELECT FROM players_approval_notification"
EXPIRED_APPROVALS: Final = """
SELECT FROM audit_approval AS approval WHERE expires_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM audit_decision AS decision WHERE decision.approval_id = approval.id)
"""
REPORTS: Final = "SELECT FROM audit_report WHERE state IN ('waiting', 'making')"
MAIL: Final = "SELECT FROM players_mail WHERE next_try_at <= clock_timestamp()"
SESSIONS: Final = "SELECT FROM players_session WHERE ended_at IS NULL"
# A closed account whose owner may log in again counts as open.
CLOSURES: Final = """
SELECT FROM players_closure AS closing WHERE state = 'closing' AND NOT EXISTS (
    SELECT FROM players_closure AS closed
    JOIN players_player AS player ON player.id = closed.player_id
    JOIN players_user AS login ON login.id = player.user_id
    WHERE closed.player_id = closing.player_id AND closed.state = 'closed' AND NOT login.is_active)
UNION ALL
SELECT FROM players_closure AS closed
JOIN wallet_account AS account ON account.owner_id = closed.player_id
WHERE closed.state = 'closed' AND account.kind = 'cash' AND account.mode = 'R' AND account.balance > 0
"""

QUESTIONS: Final[Mapping[str, str]] = {
    "games.tasks.tick": SHARED_TABLES,
    "games.tasks.tick_chemin": CHEMIN_TABLES,
    "games.tasks.put_versions_live": VERSIONS,
    "wallet.tasks.send_payouts": PAYOUTS,
    "wallet.tasks.ask_undecided_payments": UNDECIDED_PAYMENTS,
    "wallet.tasks.return_held_deposits": HELD_DEPOSITS,
    "wallet.tasks.work_at_the_sandbox_bank": SANDBOX_PAYOUTS,
    "wallet.tasks.send_bank_notices": SANDBOX_NOTICES,
    "wallet.tasks.send_operator_messages": OPERATORS,
    "wallet.tasks.give_up_operator_bets": BETS_AT_OPERATORS,
    "audit.tasks.seal": EVENTS,
    "audit.tasks.find_significant": SIGNIFICANT,
    "audit.tasks.sum_up": HOURLY_TOTALS,
    "players.tasks.mail_alerts": ALERTS,
    "audit.tasks.check_the_seal": LAG,
    "games.tasks.return_idle_purses": PURSES,
    "games.tasks.verify_finished_rounds": ROUNDS_TO_VERIFY,
    "games.tasks.publish_seeds": SEEDS,
    "games.tasks.write_letters": LETTERS,
    "players.tasks.mail_approvals": APPROVAL_NOTIFICATIONS,
    "audit.tasks.expire_approvals": EXPIRED_APPROVALS,
    "audit.tasks.make_reports": REPORTS,
    "players.tasks.send_mail": MAIL,
    "players.tasks.end_idle_sessions": SESSIONS,
    "accounts.tasks.finish_closing": CLOSURES,
}
"""Query by task: returns rows if the task has work."""


# The seconds until something is due at the tables, if nothing changes before, which is notified.
NEXT: Final[Mapping[str, str]] = {
    "games.tasks.tick": """
SELECT extract(epoch FROM min(due.at) - clock_timestamp())::float8
FROM (
    SELECT round.deadline AS at FROM games_livetable AS live JOIN games_liveround AS round ON round.id = live.round_id
    UNION ALL SELECT open_until FROM games_shoecut
) AS due
WHERE due.at > clock_timestamp()
""",
    "games.tasks.tick_chemin": """
SELECT extract(epoch FROM min(due.at) - clock_timestamp())::float8
FROM (
    SELECT deadline AS at FROM games_chemintable
    UNION ALL SELECT open_until FROM games_shoecut
) AS due
WHERE due.at > clock_timestamp()
""",
}


# An arbitrary number, the same in every beat.
ADVISORY_LOCK = 0x5AB07_0002
# The beat that holds the lock is the active one.
COUNT_BEATS = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND (classid::bigint << 32 | objid::bigint) = %s
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
LONGEST_NAME = 63  # bytes of application_name that PostgreSQL keeps
PARAMETERS = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}  # of libpq
AGAIN = 0.2  # seconds between attempts to reach PostgreSQL
LONGEST_SLEEP = 5  # seconds; after each sleep, beat checks that its connection, and so the lock, is still there
LONGEST_REST = 5.0  # seconds after which tables are asked about although nothing is due
LONGEST_SILENCE = 600.0  # seconds after which a task is sent whatever its query returns


def main(app: Celery) -> None:
    """Send the tasks of *app* when they are due, until stopped. Exits with status 1 where a
    production system is not safe to start.
    """
    logging.config.dictConfig(settings.LOGGING)
    logs.configure()
    if not settings.DEMO and (status := forked.fork(_check, "check").wait()):
        sys.exit(status)
    if settings.METRICS:
        django.setup()
        from ops.metrics import collect

        collect.serve()
    turn = Turn(settings.DATABASES["default"])
    turn.wait(partial(print, flush=True))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # Celery then saves what it has sent
    Service(
        app,
        max_interval=LONGEST_SLEEP,
        schedule_filename=str(settings.VAR_DIR / "beat-schedule"),
        scheduler_cls=partial(GuardedScheduler, turn),  # type: ignore[arg-type]
    ).start()


def _check() -> None:
    """Run the production checks; in a child process, so that their memory is freed."""
    django.setup()
    from ops.checks import refuse_unsafe_start  # has models

    refuse_unsafe_start()


class TurnLost(Exception):
    """Another beat holds the lock."""


def name() -> str:
    """Return the application_name of this host's beat."""
    return f"sabot beat {gethostname()}"[:LONGEST_NAME]


class Turn:
    """The right to send tasks: an advisory lock in *database* (a settings dict), held while `connection` is open."""

    def __init__(self, database: Mapping[str, Any]) -> None:
        self._database = database
        self._has_heard = False
        self.connection = self._connect()

    def wait(self, say: Callable[[str], object]) -> None:
        """Wait until no other beat is active."""
        if not self._is_free():
            say("Another beat is at work; waiting to take over from it")
            self.connection.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])

    def keep(self) -> None:
        """Check that the lock is held, by a query. If the connection was lost, reconnect and take the lock again.

        Raises TurnLost.
        """
        try:
            self.connection.execute("SELECT 1")
        except (psycopg.OperationalError, psycopg.InterfaceError):
            self._take_again()

    def hear(self) -> bool:
        """Return whether a notification has come since the last call. Reads what the server has sent, without a
        query, and so notices a closed connection, like `keep`. Raises TurnLost.
        """
        try:
            server = self.connection.pgconn
            server.consume_input()
            server.consume_input()  # the end of the connection comes after the server's reason for it
            while server.notifies():
                self._has_heard = True
        except (psycopg.OperationalError, psycopg.InterfaceError):
            self._take_again()
            self._has_heard = True
        heard, self._has_heard = self._has_heard, False
        return heard

    def _take_again(self) -> None:
        while True:
            self.connection.close()
            try:
                self.connection = self._connect()
                if self._is_free():
                    return
            except (psycopg.OperationalError, psycopg.InterfaceError, embedded.EmbeddedError):
                time.sleep(AGAIN)
            else:
                raise TurnLost

    def _is_free(self) -> bool:
        """Try to take the lock; return whether it was free."""
        row = self.connection.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK]).fetchone()
        return row == (True,)

    def _connect(self) -> psycopg.Connection:
        """Connect without Django's backend, which would take a third of this process's memory."""
        if settings.EMBEDDED:
            embedded.ensure_running(settings.VAR_DIR)
        given = {PARAMETERS[name]: value for name, value in self._database.items() if value and name in PARAMETERS}
        options = {name: value for name, value in self._database["OPTIONS"].items() if name != "server_side_binding"}
        made = psycopg.connect(**given, **options | {"application_name": name()}, autocommit=True)
        made.add_notify_handler(self._note)
        made.execute(f"LISTEN {CHANNEL}".encode())
        return made

    def _note(self, notification: psycopg.Notify) -> None:
        """Remember a notification that came with the answer to a query."""
        self._has_heard = True


class GuardedScheduler(PersistentScheduler):
    """Sends only tasks that have work to do, and only while the lock is held. If PostgreSQL
    restarts, the lock is taken again at once, because shared tables depend on it. If another beat
    was faster, this process exits and its supervisor starts it again.
    """

    def __init__(self, turn: Turn, *args: Any, **kwargs: Any) -> None:
        self._turn = turn
        self._sent_at: dict[str, float] = {}
        self._rests_until: dict[str, float] = {}  # by the monotonic clock; see `NEXT`
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send everything that is due and return the seconds until the next task. Raises TurnLost."""
        if self._turn.hear():
            self._rests_until.clear()
        while not (pause := super().tick(*args, **kwargs)):
            pass
        return pause

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send a task unless its query shows that it has nothing to do (`QUESTIONS`)."""
        task = str(entry.task)
        if self._has_work(task):
            self._sent_at[task] = time.monotonic()
            super().apply_entry(entry, producer)

    def adjust(self, n: float, drift: float = 0.001) -> float:
        """Sleep until just after a task is due. Celery wakes ten milliseconds early and then polls the clock without a
        pause, for each of several tasks a second.
        """
        return n + drift if n and n > 0 else n

    def schedules_equal(self, old_schedules: object, new_schedules: object) -> bool:
        """Return whether the schedule is unchanged: it never changes while beat runs."""
        return old_schedules is not None

    def _has_work(self, task: str) -> bool:
        question, now = QUESTIONS.get(task), time.monotonic()
        if question is None or now - self._sent_at.get(task, -inf) > LONGEST_SILENCE:
            self._turn.keep()  # what follows is sent without a question
            return True
        if now < self._rests_until.get(task, 0):
            return False
        following = NEXT.get(task, "NULL")
        try:
            row = self._turn.connection.execute(f"SELECT EXISTS ({question}), ({following})".encode()).fetchone()
        except psycopg.Error:
            return True
        has_work, seconds = row or (True, None)
        if task in NEXT and not has_work:
            self._rests_until[task] = now + min(LONGEST_REST, LONGEST_REST if seconds is None else seconds)
        return bool(has_work)

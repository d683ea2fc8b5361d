"""Reports that wait are made here, one after the other, by whoever is told that some do.

Two sessions of the database work on a report. One reads, in one transaction that sees one state of the house and writes
nothing. The other one writes, a statement at a time, so that everybody sees how far it is; and it holds the lock that
says that somebody makes this report. Whoever dies loses both with it, and the next one begins the report anew. What
half a report has left is seen by nobody and goes then.

Where the house has a replica that is one is read, once it has all that was committed before the report was begun: so
its figures are those that the primary would have given. Where it has not in time, or fails, the primary is read.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import DEFAULT_DB_ALIAS, Error, OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from audit import log, replica
from audit.models import Report, ReportState
from audit.reports.kinds import CannotMake, Kind, all_kinds, kind_of
from audit.reports.requests import asked_of
from audit.reports.writer import do, write

AT_ONCE: Final = 2  # of all workers: tables and payments are not to wait for reports
MAKER: Final = 1016  # first number of the locks of those who make a report; the second counts up to AT_ONCE
REPORT: Final = 1017  # first number of the locks of reports
MOST_TRIES: Final = 5  # of a report whose makers die
LONGEST_READ: Final = 300.0  # seconds until a replica that says nothing is taken for gone
FAILED: Final = "report.failed"  # the kind of the event
UNFORESEEN: Final = "Something went wrong that is the house’s fault, not yours. It is on record."

OPEN: Final = (ReportState.WAITING, ReportState.MAKING)
LOCK: Final = "SELECT pg_try_advisory_lock(%s, (%s %% 2147483647)::integer)"
BEGIN: Final = """
    UPDATE audit_report SET state = 'making', tries = tries + 1, done = 0, "of" = NULL, moved_at = clock_timestamp()
    WHERE id = %s AND state IN ('waiting', 'making') RETURNING tries, moved_at
"""
CLEAR_PAGES: Final = "DELETE FROM audit_report_page WHERE report_id = %s"
CLEAR_PARTS: Final = "DELETE FROM audit_report_part WHERE report_id = %s"
OF_REPLICA: Final = "Read from a replica of the database that had all that was committed when the report was generated."
FAIL: Final = """
    WITH said AS (SELECT audit_record(%s, %s, %s, %s, %s::jsonb) AS id)
    UPDATE audit_report SET state = 'failed', failure = %s, moved_at = clock_timestamp()
    FROM said WHERE audit_report.id = %s AND said.id IS NOT NULL
"""

logger = structlog.get_logger(__name__)


def make_open() -> int:
    """Make all reports that wait and that nobody else makes, the oldest first, and return how many were finished here,
    made or failed. Returns at once where as many are being made as may be. Raises OperationalError where the database
    goes away; then they wait for the next one.
    """
    finished = 0
    writer = connections[DEFAULT_DB_ALIAS].copy()
    try:
        while _one(writer):
            finished += 1
    finally:
        writer.close()
    return finished


def make(report_id: int, writer: BaseDatabaseWrapper, one_state: Callable[[], Any]) -> None:
    """Make one report of a kind that there is, or record why it cannot be made. The caller holds its lock in *writer*'s
    session; *one_state* gives the transaction in which its rows are read.
    """
    with writer.cursor() as cursor:
        cursor.execute(BEGIN, [report_id])
        begun = cursor.fetchone()
        if begun is None:
            return  # somebody has finished it since it was found
    _clear(report_id, writer)
    report = Report.objects.get(pk=report_id)
    kind = kind_of(report.kind)
    assert kind  # noqa: S101  (no other is begun)
    try:
        if begun[0] > MOST_TRIES:
            raise CannotMake(f"It was begun {MOST_TRIES} times, and each time whoever made it was cut off.")
        if not _is_made_of_replica(report, kind, begun[1], writer, one_state):
            replica.tell_of_primary(replica.REPORT)
            with one_state():
                made_at = replica.as_of()
                write(report, kind, kind.answer(asked_of(report)), made_at, writer)
    except CannotMake as error:
        _fail(report, str(error), writer)
    except OperationalError:
        raise  # of the database, not of the report: the next one tries again
    except Exception:
        logger.exception("report failed", report=report.pk, kind=report.kind)
        _fail(report, UNFORESEEN, writer)


def _one(writer: BaseDatabaseWrapper) -> bool:
    """Make the oldest report that nobody makes, and say whether there was one and a place to make it.

    What waits is looked up before a place is taken: so whoever leaves a place sees what came while it was taken. Kinds
    that this program does not know are left to one that does: while a release is put live, both are at work.
    """
    known = Report.objects.filter(state__in=OPEN, kind__in=[kind.name for kind in all_kinds()])
    waiting = list(known.order_by("asked_at", "pk").values_list("pk", flat=True))
    if not waiting:
        return False
    try:
        if not any(_locked(writer, MAKER, place) for place in range(AT_ONCE)):
            return False
        mine = next((number for number in waiting if _locked(writer, REPORT, number)), None)
        if mine is not None:
            make(mine, writer, _one_state)
        return mine is not None
    finally:
        if writer.connection and not writer.connection.closed:
            do(writer, "SELECT pg_advisory_unlock_all()", [])


@contextmanager
def _one_state() -> Iterator[None]:
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _is_made_of_replica(
    report: Report, kind: Kind, begun_at: datetime, writer: BaseDatabaseWrapper, one_state: Callable[[], Any]
) -> bool:
    """Make the report of what the replica has, as of the moment at which it was begun; say whether it is made."""
    if not replica.has_all_of(writer):
        return False
    try:
        with replica.on_replica(LONGEST_READ), one_state(), replica.reading_as_of(begun_at):
            made_at = replica.as_of()
            write(report, kind, kind.answer(asked_of(report)), made_at, writer, notes=(OF_REPLICA,))
    except Error as error:
        replica.give_up(error)
        with writer.cursor() as cursor:
            cursor.execute("SELECT state FROM audit_report WHERE id = %s", [report.pk])
            if cursor.fetchone() != (ReportState.MAKING,):
                return True  # and the end of the reading failed
        _clear(report.pk, writer)
        return False
    replica.tell(replica.REPORT, replica.ALIAS)
    return True


def _clear(report_id: int, writer: BaseDatabaseWrapper) -> None:
    do(writer, CLEAR_PAGES, [report_id])
    do(writer, CLEAR_PARTS, [report_id])


def _fail(report: Report, sentence: str, writer: BaseDatabaseWrapper) -> None:
    said = log.event(FAILED, by=report.by, on=f"report:{report.pk}", data={"kind": report.kind, "why": sentence})
    _clear(report.pk, writer)
    do(writer, FAIL, [said.kind, said.by, said.on, said.rest, said.personal, sentence, report.pk])


def _locked(writer: BaseDatabaseWrapper, what: int, number: int) -> bool:
    with writer.cursor() as cursor:
        cursor.execute(LOCK, [what, number])
        return bool(cursor.fetchone()[0])

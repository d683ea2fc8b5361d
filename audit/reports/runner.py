"""Report runner: makes waiting reports, one after another, in any worker, and stores their pages and files.

It uses two database sessions. One reads, in a read-only transaction with a single snapshot. The
other writes, and commits each statement, so that progress is visible, and holds the lock of the report.
A worker that crashes loses both, and the next one starts the report again. Partial output is never
shown and is deleted then.

If there is a replica, rows are read from it, once it has everything that was committed before the
report was started, so that figures equal those of the primary. If it has not caught up in time, or
fails, the primary is read.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

import structlog
from django.db import DEFAULT_DB_ALIAS, Error, OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from audit import log, replica
from audit.models import Report, ReportState
from audit.reports.files import CsvFile, File
from audit.reports.heading import Head, ended, head_of
from audit.reports.kinds import Answer, CannotMake, Kind, Row, all_kinds, kind_of
from audit.reports.requests import asked_of

MADE: Final = "report.made"  # kind of the event about a finished report
PAGE: Final = 100  # rows per page on screen
PAGES_AT_ONCE: Final = 20
LONGEST_SILENCE: Final = 1.0  # seconds between progress updates
MOST_BYTES: Final = 256 * 1024 * 1024  # of a file: PostgreSQL hashes it as one value

PAGES: Final = """
    WITH page AS (
        INSERT INTO audit_report_page (report_id, number, rows)
        SELECT %(report)s, %(first)s + ordinality - 1, value FROM jsonb_array_elements(%(pages)s::jsonb) WITH ORDINALITY
    )
    UPDATE audit_report SET done = %(done)s, "of" = %(of)s, changed_at = clock_timestamp() WHERE id = %(report)s
"""
PART: Final = "INSERT INTO audit_report_part (report_id, format, number, content) VALUES (%s, %s, %s, %s)"
READY: Final = """
    WITH said AS (SELECT audit_record(%s, %s, %s, %s, %s::jsonb) AS id)
    UPDATE audit_report SET state = 'ready', made_at = %s, head = %s::jsonb, digests = %s::jsonb,
        changed_at = clock_timestamp()
    FROM said WHERE audit_report.id = %s AND said.id IS NOT NULL
"""


def write(
    report: Report,
    kind: Kind,
    answer: Answer,
    made_at: datetime,
    database: BaseDatabaseWrapper,
    notes: Sequence[str] = (),
) -> None:
    """Store the content of *answer*, with figures as of *made_at* and additional *notes*, and mark
    the report as ready in the statement that records its event. Raises CannotMake, and whatever
    reading the rows raises.
    """
    from audit.reports.workbook import SheetFile  # slow to import, and every process imports this module

    head = head_of(report, kind, made_at)
    keepers = {name: _Keeper(database, report.pk, name) for name in ("csv", "xlsx")}
    with (
        TemporaryDirectory(prefix="sabot-report-") as folder,
        closing(SheetFile(head, keepers["xlsx"].keep, Path(folder))) as sheets,
    ):
        files: list[File] = [CsvFile(head, keepers["csv"].keep), sheets]
        screen = _Screen(database, report.pk, answer.of)
        for row in answer.rows:
            screen.row(row)
            for file in files:
                file.row(row)
        screen.end()
        head = ended(head, answer, report, made_at, notes)
        for file in files:
            file.end(head)
    digests = {name: keeper.digest for name, keeper in keepers.items()} | {"screen": screen.digest(head)}
    _ready(report, head, made_at, screen.done, digests, database)


def do(database: BaseDatabaseWrapper, sql: str, values: Sequence[Any] | Mapping[str, Any]) -> None:
    """Execute a statement in the session of *database*."""
    with database.cursor() as cursor:
        cursor.execute(sql, values)


def line(value: log.Json) -> bytes:
    """Return the bytes that are hashed for the screen: of each row in turn, and of the head at the end."""
    return f"{log.canonical(value)}\n".encode()


def _ready(
    report: Report,
    head: Head,
    made_at: datetime,
    rows: int,
    digests: Mapping[str, str],
    database: BaseDatabaseWrapper,
) -> None:
    data: dict[str, log.Json] = {
        "kind": report.kind,
        "since": report.since.isoformat(),
        "until": report.until.isoformat(),
        "choices": report.choices,
        "made_at": made_at.isoformat(),
        "rows": rows,
        "digests": digests,
    }
    said = log.event(MADE, by=report.by, on=f"report:{report.pk}", data=data)
    do(
        database,
        READY,
        [
            *(said.kind, said.by, said.on, said.rest, said.personal),
            *(made_at, json.dumps(head.stored()), json.dumps(digests), report.pk),
        ],
    )


class _Keeper:
    """Stores and hashes the chunks of one file."""

    def __init__(self, database: BaseDatabaseWrapper, report: int, name: str) -> None:
        self._database = database
        self._report = report
        self._name = name
        self._number = self._bytes = 0
        self._hash = hashlib.sha256()

    @property
    def digest(self) -> str:
        """The hash of what was stored so far."""
        return self._hash.hexdigest()

    def keep(self, piece: bytes) -> None:
        """Store the next chunk. Raises CannotMake where the file is too long."""
        self._number += 1
        self._bytes += len(piece)
        if self._bytes > MOST_BYTES:
            raise CannotMake("The report is too long for a file. Request a shorter interval.")
        self._hash.update(piece)
        do(self._database, PART, [self._report, self._name, self._number, piece])


class _Screen:
    """Stores and hashes rows as pages, and updates the progress."""

    def __init__(self, database: BaseDatabaseWrapper, report: int, of: int | None) -> None:
        self._database = database
        self._report = report
        self._of = of
        self._pages: list[list[Row]] = []
        self._page: list[Row] = []
        self._stored = self.done = 0
        self._hash = hashlib.sha256()
        self._store()  # stores the expected number of rows

    def row(self, row: Row) -> None:
        """Add a row."""
        self._page.append(list(row))
        self._hash.update(line(list(row)))
        self.done += 1
        if len(self._page) == PAGE:
            self._pages.append(self._page)
            self._page = []
        if len(self._pages) == PAGES_AT_ONCE or monotonic() - self._said > LONGEST_SILENCE:
            self._store()

    def end(self) -> None:
        """Store what has not been stored yet."""
        if self._page:
            self._pages.append(self._page)
        self._store()

    def _store(self) -> None:
        pages = {"report": self._report, "first": self._stored + 1, "pages": json.dumps(self._pages)}
        do(self._database, PAGES, pages | {"done": self.done, "of": self._of})
        self._stored += len(self._pages)
        self._pages = []
        self._said = monotonic()

    def digest(self, head: Head) -> str:
        """Return the hash of all rows and of the head."""
        self._hash.update(line(head.stored()))
        return self._hash.hexdigest()


AT_ONCE: Final = 2  # by all workers together, so that tables and payments do not wait for reports
MAKER: Final = 1016  # first key of the advisory locks of runners; the second is below AT_ONCE
REPORT: Final = 1017  # first key of the advisory locks of reports
MOST_TRIES: Final = 5  # attempts before a report whose runners crash is given up
LONGEST_READ: Final = 300.0  # seconds without an answer after which a replica counts as gone
FAILED: Final = "report.failed"  # event kind
UNFORESEEN: Final = "The report failed because of an internal error. The error is recorded."

OPEN: Final = (ReportState.WAITING, ReportState.MAKING)
LOCK: Final = "SELECT pg_try_advisory_lock(%s, (%s %% 2147483647)::integer)"
BEGIN: Final = """
    UPDATE audit_report SET state = 'making', tries = tries + 1, done = 0, "of" = NULL, changed_at = clock_timestamp()
    WHERE id = %s AND state IN ('waiting', 'making') RETURNING tries, changed_at
"""
CLEAR_PAGES: Final = "DELETE FROM audit_report_page WHERE report_id = %s"
CLEAR_PARTS: Final = "DELETE FROM audit_report_part WHERE report_id = %s"
OF_REPLICA: Final = "Read from a database replica that contained all data committed when the report was generated."
FAIL: Final = """
    WITH said AS (SELECT audit_record(%s, %s, %s, %s, %s::jsonb) AS id)
    UPDATE audit_report SET state = 'failed', failure = %s, changed_at = clock_timestamp()
    FROM said WHERE audit_report.id = %s AND said.id IS NOT NULL
"""

logger = structlog.get_logger(__name__)


def make_open() -> int:
    """Make all waiting reports that no other worker is making, oldest first, and return how many
    were finished (made or failed). Returns at once where `AT_ONCE` are being made. Raises
    OperationalError where the database is lost; the reports then wait for the next call.
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
    """Make one report of a registered kind, or record why it failed. The caller holds its lock in
    the session of *writer*; *one_state* returns the transaction in which rows are read.
    """
    with writer.cursor() as cursor:
        cursor.execute(BEGIN, [report_id])
        begun = cursor.fetchone()
        if begun is None:
            return  # another worker has finished it
    _clear(report_id, writer)
    report = Report.objects.get(pk=report_id)
    kind = kind_of(report.kind)
    assert kind  # noqa: S101  (no other is begun)
    try:
        if begun[0] > MOST_TRIES:
            raise CannotMake(f"The report was interrupted {MOST_TRIES} times and was not completed.")
        if not _is_made_of_replica(report, kind, begun[1], writer, one_state):
            replica.log_primary_failure(replica.REPORT)
            with one_state():
                made_at = replica.as_of()
                write(report, kind, kind.answer(asked_of(report)), made_at, writer)
    except CannotMake as error:
        _fail(report, str(error), writer)
    except OperationalError:
        raise  # a database error, not the report's: the next call tries again
    except Exception:
        logger.exception("report failed", report=report.pk, kind=report.kind)
        _fail(report, UNFORESEEN, writer)


def _one(writer: BaseDatabaseWrapper) -> bool:
    """Make the oldest report that no one is making; return whether there was one and a free slot.

    Waiting reports are read before a slot is taken. So a worker that frees a slot sees the reports
    that came after that. Kinds that this release does not know are left to one that does: during a
    deployment both run.
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
    """Make the report from the replica, as of the time it was started; return whether it was made."""
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
                return True  # the report was finished, and only closing the reading transaction failed
        _clear(report.pk, writer)
        return False
    replica.log_failure(replica.REPORT, replica.ALIAS)
    return True


def _clear(report_id: int, writer: BaseDatabaseWrapper) -> None:
    do(writer, CLEAR_PAGES, [report_id])
    do(writer, CLEAR_PARTS, [report_id])


def _fail(report: Report, message: str, writer: BaseDatabaseWrapper) -> None:
    said = log.event(FAILED, by=report.by, on=f"report:{report.pk}", data={"kind": report.kind, "why": message})
    _clear(report.pk, writer)
    do(writer, FAIL, [said.kind, said.by, said.on, said.rest, said.personal, message, report.pk])


def _locked(writer: BaseDatabaseWrapper, what: int, number: int) -> bool:
    with writer.cursor() as cursor:
        cursor.execute(LOCK, [what, number])
        return bool(cursor.fetchone()[0])

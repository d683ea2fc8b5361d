"""Report writer: stores pages, file chunks and progress while the rows are read.

It uses one connection and commits each statement, so that the progress is visible.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

from django.db.backends.base.base import BaseDatabaseWrapper

from audit import log
from audit.models import Report
from audit.reports.files import CsvFile, File
from audit.reports.heading import Head, ended, head_of
from audit.reports.kinds import Answer, CannotMake, Kind, Row

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

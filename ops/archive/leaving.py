"""A month leaves the database: it is written into a file, read back, put on record and taken out, in one transaction.

Whoever dies on the way leaves the month where it was. Afterwards its tables stand in a schema of their own, `archived`,
where nothing reads them, until `drop` is told to let them go and has read the file once more.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from django.db import OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from audit import archiving, hours, log
from audit.models import ArchivedMonth
from audit.verification import export
from ops.archive import verify_archive, writing
from ops.archive.errors import CannotWrite, NotTheArchive, NotYet
from ops.archive.writing import Month
from ops.backup import programs
from ops.backup.taking import digest
from wallet import carried
from wallet.invariants import verify
from wallet.ledger import hourly_totals

TABLES: Final = ("audit_event", "wallet_entry", "wallet_journal")
SCHEMA: Final = "archived"
YOUNGEST: Final = 13
"""How many months after its end a month may leave: the law has players read a year of their statements (GLI-19 v3.0,
2.5.7; twelve months on request in Great Britain), and the month that runs is not over."""
# The tables of events that are here, oldest first: what follows the name, up to which id they go, and whether the month
# has anything at all.
THERE: Final = """
    SELECT month.suffix, month.beyond, EXISTS (SELECT FROM audit_event WHERE id < month.beyond)
        OR EXISTS (SELECT FROM wallet_journal WHERE id < month.beyond)
    FROM (SELECT substr(c.relname, length('audit_event_') + 1) AS suffix,
              split_part(pg_get_expr(c.relpartbound, c.oid), '''', -2)::bigint AS beyond
          FROM pg_class AS c JOIN pg_inherits ON inhrelid = c.oid WHERE inhparent = 'audit_event'::regclass) AS month
    ORDER BY month.beyond
"""
# A month that was begun late has rows of the one after it, too: what counts is when the last of it happened.
MAY_GO: Final = """
    SELECT since <= clock_timestamp(), since::date FROM (
        SELECT greatest(audit_month_of(%(beyond)s), %(until)s) + make_interval(months => %(months)s) AS since) AS month
"""
COUNTS: Final = """
    SELECT least(e.since, j.since), greatest(e.until, j.until), e.rows, j.rows,
        (SELECT count(*) FROM wallet_entry WHERE journal_id >= %(first)s AND journal_id < %(beyond)s)
    FROM (SELECT min(at) AS since, max(at) AS until, count(*) AS rows FROM audit_event
          WHERE id >= %(first)s AND id < %(beyond)s) AS e,
         (SELECT min(at) AS since, max(at) AS until, count(*) AS rows FROM wallet_journal
          WHERE id >= %(first)s AND id < %(beyond)s) AS j
"""
KEEP: Final = """
    INSERT INTO audit_archived (month, first, beyond, since, until, events, journals, file, sha256, event_id, said)
    SELECT %(month)s, %(first)s, %(beyond)s, %(since)s, %(until)s, %(events)s, %(journals)s, %(file)s, %(sha256)s,
        id, body
    FROM audit_event WHERE id = %(event)s
"""
LONGEST_WAIT: Final = "500ms"  # for a table that somebody reads: play waits behind whoever waits
TRIES: Final = 60

Say = Callable[[str], object]


@dataclass(frozen=True)
class Left:
    """A month that has left: what it was, the file, and its SHA-256."""

    month: Month
    file: Path
    sha256: str


def leave(folder: Path, say: Say) -> Left:
    """Write the oldest month that is here into a file in *folder*, read it back, and take it out.

    Raises NotYet, CannotWrite; then the month is where it was.
    """
    programs.demand_owner()
    owner = connections[programs.OWNER]
    month, suffixes = _next(owner)
    say(f"{month.name}: {month.events:,} events, {month.journals:,} journals with {month.entries:,} entries.")
    _demand_summed_up(month)
    _demand_sound()
    say("The ledger is whole.")
    file = folder / f"sabot-{month.name}.zip"
    if file.exists():
        raise CannotWrite(f"{file} is there already: an archive is written over nothing.")
    with transaction.atomic(using=owner.alias):
        with owner.cursor() as cursor:
            # Nothing of it is decided elsewhere meanwhile, and only one archive is made at a time.
            cursor.execute("SET LOCAL transaction_timeout = 0; SELECT pg_advisory_xact_lock(1012, 15)")
            try:
                archiving.demand_sealed(cursor, month.first, month.beyond)
                carried.carry(cursor, month.name, month.first, month.beyond)
            except (archiving.NotSealedYet, carried.RoundNotOver) as lacking:
                raise NotYet(f"{month.name} cannot leave yet: {lacking}.") from lacking
        with _draft(file) as draft:
            written = _write(month, draft, owner)
            say(f"{file}: written and read back, SHA-256 {written.sha256}.")
            with owner.cursor() as cursor:
                _record(cursor, month, file.name, written)
                _take_out(owner, suffixes)
            draft.rename(file)
            _sync(folder)
    return Left(month, file, written.sha256)


def drop(file: Path) -> str:
    """Let the tables of an archived month go, of which *file* is the archive: read once more, so that nothing goes that
    is nowhere else. Returns the month's name. Raises NotTheArchive, NotYet.
    """
    programs.demand_owner()
    month = row_of(file)
    _demand_proven(file)
    owner = connections[programs.OWNER]
    with transaction.atomic(using=owner.alias), owner.cursor() as cursor:
        names = [f"{table}_{month.month.replace('-', '_')}" for table in TABLES]
        there = [name for name in names if _is_there(cursor, name)]
        if not there:
            raise NotYet(f"{month.month} has gone already.")
        for name in there:
            cursor.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(SCHEMA, name)))
        log.record(
            "month.dropped", by="system", on=f"month:{month.month}", data={"sha256": month.sha256}, using=owner.alias
        )
    return month.month


def row_of(file: Path) -> ArchivedMonth:
    """Return the month whose archive *file* is, by its SHA-256. Raises NotTheArchive."""
    try:
        sha256 = digest(file)
    except OSError as error:
        raise NotTheArchive(f"{file} cannot be read: {error.strerror or error}") from error
    month = ArchivedMonth.objects.filter(sha256=sha256).first()
    if month is None:
        raise NotTheArchive(f"{file} is the archive of no month of this house: none has its SHA-256, {sha256}.")
    return month


def carried_of(month: ArchivedMonth) -> str:
    """Return the SHA-256 of what the house has carried forward of a month."""
    with connection.cursor() as cursor:
        return carried.digest(cursor, month.month)


def _next(owner: BaseDatabaseWrapper) -> tuple[Month, list[str]]:
    """Return the oldest month that is here and has anything, with what its tables and those of the empty ones before it
    are called after. Raises NotYet where it is too young, or not over.
    """
    with owner.cursor() as cursor:
        cursor.execute("SELECT audit_cut()")
        (first,) = cursor.fetchone()
        cursor.execute(THERE)
        there = cursor.fetchall()
        last = next((place for place, (*_, has_anything) in enumerate(there) if has_anything), len(there) - 1)
        suffixes, beyond = [suffix for suffix, *_ in there[: last + 1]], there[last][1]
        name = suffixes[-1].replace("_", "-")
        ids = {"first": first, "beyond": beyond, "months": YOUNGEST}
        cursor.execute(COUNTS, ids)
        begun, ended, events, journals, entries = cursor.fetchone()
        cursor.execute(MAY_GO, {**ids, "until": ended})
        may_go, since = cursor.fetchone()
        if not may_go:
            raise NotYet(f"{name} is the oldest month that is here, and may go from {since} on.")
    return Month(name, first, beyond, begun, ended, events, journals, entries), suffixes


def _demand_summed_up(month: Month) -> None:
    """Reports of the month stand on sums of its hours, which nobody could add up any more. Raises NotYet."""
    summed_up = hours.rolled_until(hourly_totals.SUMS)
    if month.journals and (summed_up is None or summed_up <= month.until):
        since = f"{summed_up:%Y-%m-%d %H:%M} UTC" if summed_up else "the beginning"
        raise NotYet(f"{month.name} cannot leave yet: what the ledger moved is not summed up since {since}.")


def _demand_sound() -> None:
    broken = [check for check in verify.run() if check.rows]
    if broken:
        raise NotYet(
            f"The ledger is not whole: {broken[0].invariant.name}: {broken[0].rows[0]}. manage.py verify_ledger says"
            " all of it; nothing leaves before it is mended."
        )


def _write(month: Month, draft: Path, owner: BaseDatabaseWrapper) -> writing.Written:
    """Write the archive and read it back. Raises CannotWrite."""
    try:
        with owner.cursor() as cursor:
            leaves = archiving.leaves(cursor, month.first, month.beyond)
        chosen = export.part(leaves.start, leaves.stop)
        with draft.open("wb") as file:
            written = writing.write(month, chosen, file, owner)
            file.flush()
            os.fsync(file.fileno())
        if digest(draft) != written.sha256:
            raise CannotWrite(f"{draft} was not written: what is read from there is not what was written.")
        _demand_proven(draft)
    except OSError as error:
        raise CannotWrite(f"{draft} cannot be written: {error.strerror or error}") from error
    except NotTheArchive as error:
        raise CannotWrite(f"What was written does not prove itself, so nothing leaves: {error}") from error
    return written


def _demand_proven(file: Path) -> None:
    """Raises NotTheArchive where the file does not prove itself."""
    try:
        archive = verify_archive.Archive(file)
    except verify_archive.NotReadable as error:
        raise NotTheArchive(str(error)) from error
    archive.check()
    if archive.wrong:
        raise NotTheArchive(f"{file}: {archive.wrong[0]}")


def _record(cursor: CursorWrapper, month: Month, file: str, written: writing.Written) -> None:
    """Put on record what leaves, for good, and keep what is needed of it."""
    data: dict[str, log.Json] = {
        "beyond": month.beyond,
        "carried": written.carried,
        "entries": month.entries,
        "events": month.events,
        "file": file,
        "first": month.first,
        "journals": month.journals,
        "sha256": written.sha256,
    }
    event = log.record("month.archived", by="system", on=f"month:{month.name}", data=data, using=programs.OWNER)
    archiving.keep_needed(cursor, month.first, month.beyond)
    kept = {**month.ids, "since": month.since, "until": month.until, "events": month.events}
    cursor.execute(KEEP, {**kept, "journals": month.journals, "file": file, "sha256": written.sha256, "event": event})


def _take_out(owner: BaseDatabaseWrapper, suffixes: Sequence[str]) -> None:
    """Detach the tables: in an instant, or it gives way to whoever reads them and tries again. Raises NotYet."""
    with owner.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
    refused: OperationalError | None = None
    for _ in range(TRIES):
        try:
            with transaction.atomic(using=owner.alias), owner.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{LONGEST_WAIT}'")
                for table, suffix in product(TABLES, suffixes):
                    _detach(cursor, table, f"{table}_{suffix}", is_empty=suffix != suffixes[-1])
        except OperationalError as error:
            refused = error
        else:
            return
    raise NotYet(f"A table is in use, and has been for half a minute: {refused}")


def _detach(cursor: CursorWrapper, whole: str, month: str, *, is_empty: bool) -> None:
    """Take a month's table out of the whole, to where nothing looks for it: in `public` it would get rights as every
    table does. One that never held anything goes.
    """
    names = {name: sql.Identifier(value) for name, value in {"whole": whole, "month": month, "to": SCHEMA}.items()}
    cursor.execute(sql.SQL("ALTER TABLE {whole} DETACH PARTITION {month}").format(**names))
    after = "DROP TABLE {month}" if is_empty else "ALTER TABLE {month} SET SCHEMA {to}"
    cursor.execute(sql.SQL(after).format(**names))


def _is_there(cursor: CursorWrapper, table: str) -> bool:
    cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [f"{SCHEMA}.{table}"])
    (found,) = cursor.fetchone()
    return bool(found)


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """Give a file that its owner alone reads, and take it away where nothing came of it. Raises CannotWrite."""
    draft = file.with_name(f"{file.name}.part")
    try:
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise CannotWrite(f"{file} cannot be written: {error.strerror or error}") from error
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Identity of the activated database: the server, its timeline and the database in which the system
was first started or last activated.

It is stored in the comment of the database, which archives do not contain and which a copy on the
same server does not get. A copy of the server's files contains it, but gets another timeline once
it is written to. So a production system recognizes a copy that was not activated, however it was
made (``sabot.E017``).
"""

from typing import Final

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.sql import SQL, Identifier, Literal

# PostgreSQL names WAL files by the timeline in their first eight digits.
HERE: Final = """
    SELECT format('Sabot is at home here: server %s, timeline %s, database %s',
        (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8), oid)
    FROM pg_database WHERE datname = current_database()
"""
SAID: Final = (
    "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = current_database()"
)
THERE_IS_A_LEDGER: Final = "SELECT to_regclass('public.wallet_journal') IS NOT NULL"
HAS_JOURNALS: Final = "SELECT EXISTS (SELECT FROM wallet_journal)"

Database = BaseDatabaseWrapper | psycopg.Connection


def is_home(database: Database) -> bool:
    """Return whether the system was started first or activated last in this database. True for one
    without journals: nothing that counts was ever committed to in it.
    """
    return _one(database, SAID) == _one(database, HERE) or not _has_journals(database)


def settle_in(database: Database) -> None:
    """Store the identity of this database; *database* is the owner's connection."""
    with database.cursor() as cursor:
        statement = SQL("COMMENT ON DATABASE {} IS {}").format(
            Identifier(str(_one(database, "SELECT current_database()"))), Literal(_one(database, HERE))
        )
        cursor.execute(statement.as_string(cursor.connection))


def settle_in_if_new(database: Database) -> None:
    """Store the identity if there are no journals yet; *database* is the owner's connection."""
    if not _has_journals(database):
        settle_in(database)


def _has_journals(database: Database) -> bool:
    return bool(_one(database, THERE_IS_A_LEDGER) and _one(database, HAS_JOURNALS))


def _one(database: Database, question: str) -> object:
    with database.cursor() as cursor:
        cursor.execute(question)
        row = cursor.fetchone()
        return row[0] if row else None

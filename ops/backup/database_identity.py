"""Where the house is at home: the server, the line of its history and the database on which it was opened or settled.

It stands in the comment of the database, which no archive holds and which a copy on the same server does not take
along; a copy of the whole server's files takes it along, but begins another timeline once it writes. So a production
house tells a copy that nobody has settled from its own database, however it was copied (``sabot.E017``).
"""

from typing import Final

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.sql import SQL, Identifier, Literal

# PostgreSQL names its timeline by the first eight digits of a file of the write-ahead log.
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
    """Say whether the house was opened or settled on this very database. One without a journal is anybody's home:
    nothing was ever committed to in it that counts.
    """
    return _one(database, SAID) == _one(database, HERE) or not _has_journals(database)


def settle_in(database: Database) -> None:
    """Say that the house is at home here; *database* is the owner's connection."""
    with database.cursor() as cursor:
        statement = SQL("COMMENT ON DATABASE {} IS {}").format(
            Identifier(str(_one(database, "SELECT current_database()"))), Literal(_one(database, HERE))
        )
        cursor.execute(statement.as_string(cursor.connection))


def settle_in_if_new(database: Database) -> None:
    """Say so of a database in which nobody has played yet; *database* is the owner's connection."""
    if not _has_journals(database):
        settle_in(database)


def _has_journals(database: Database) -> bool:
    return bool(_one(database, THERE_IS_A_LEDGER) and _one(database, HAS_JOURNALS))


def _one(database: Database, question: str) -> object:
    with database.cursor() as cursor:
        cursor.execute(question)
        row = cursor.fetchone()
        return row[0] if row else None

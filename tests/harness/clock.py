"""A clock of the database that the test sets: its functions, triggers and defaults read it in place of PostgreSQL's.

For a database of the test's own (``cloned_db``), because it replaces functions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

import psycopg
from django.db import connection

from tests import old_months
from tests.harness.databases import Database

# Every function and default whose text reads the clock is created again with the clock of the test.
INSTALL: Final = """
CREATE FUNCTION tests.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT current_setting('tests.clock')::timestamptz $$;
DO $$
DECLARE
    each record;
BEGIN
    FOR each IN SELECT pg_get_functiondef(oid) AS text FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prosrc LIKE '%clock_timestamp()%'
    LOOP
        EXECUTE replace(each.text, 'clock_timestamp()', 'tests.clock()');
    END LOOP;
    FOR each IN SELECT adrelid::regclass AS of, attname, pg_get_expr(adbin, adrelid) AS text
        FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE pg_get_expr(adbin, adrelid) LIKE '%clock_timestamp()%'
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT %s', each.of, each.attname,
                       replace(each.text, 'clock_timestamp()', 'tests.clock()'));
    END LOOP;
END $$
"""


@contextmanager
def in_month(database: Database, month: datetime) -> Iterator[None]:
    """Give the database a clock that begins with that *month*, in which all rows are numbered."""
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        old_months.make(superuser, month)
        old_months.go_to(superuser, month)
        superuser.execute(INSTALL)
    set_clock(month)
    yield


def set_clock(moment: datetime) -> None:
    """Set the clock of Django's connection to *moment*."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('tests.clock', %s, false)", [moment.isoformat()])


def hours(since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the first and the last moment of every hour from *since* to before *until*."""
    while since < until:
        yield since, since + timedelta(hours=1) - timedelta.resolution
        since += timedelta(hours=1)

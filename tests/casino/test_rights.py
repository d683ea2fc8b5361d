"""Database access: test clones have the same restrictions as the real database."""

import psycopg
import pytest
from psycopg import errors

from audit.verification.checking import ONE_STATE
from ops.embedded.paths import DATABASE
from tests.harness.databases import Database

RIGHTS = """
SELECT CASE held.grantee WHEN 0 THEN 'everyone' WHEN datdba THEN 'owner' ELSE held.grantee::regrole::text END,
    held.privilege_type
FROM pg_database CROSS JOIN LATERAL aclexplode(coalesce(datacl, acldefault('d', datdba))) AS held
WHERE datname = %s ORDER BY 1, 2
"""
HAPPENED = """
SELECT audit_record('test.happened', 'system', 'test:1',
    '{"by":"system","data":{},"kind":"test.happened","on":"test:1"}', NULL)
"""


def test_a_clone_is_as_closed_as_the_database_of_a_house(cloned_db: Database) -> None:
    with psycopg.connect(cloned_db.superuser_url) as superuser:
        ours, clone = (superuser.execute(RIGHTS, [name]).fetchall() for name in (DATABASE, cloned_db.name))
    assert clone == ours
    assert [right for right in clone if right[0] != "owner"] == [("sabot_app", "CONNECT")]


def test_no_transaction_of_web_and_workers_lasts_for_minutes(cloned_db: Database) -> None:
    """An event is dated when it is written, and sealed after its transaction."""
    with psycopg.connect(cloned_db.web_url) as web:
        assert web.execute("SHOW transaction_timeout").fetchone() == ("5min",)
    with psycopg.connect(f"{cloned_db.web_url}&options=-c%20transaction_timeout%3D500ms") as web:
        web.execute(HAPPENED)
        with pytest.raises(errors.TransactionTimeout):
            web.execute("SELECT pg_sleep(60)")
    with psycopg.connect(cloned_db.owner_url) as owner:
        assert owner.execute("SELECT count(*) FROM audit_event WHERE kind = 'test.happened'").fetchone() == (0,)
        assert owner.execute("SHOW transaction_timeout").fetchone() == ("0",)


def reading(database: Database, longest: int) -> psycopg.Connection:
    """Return a connection in a transaction that only reads and had at first *longest* milliseconds."""
    web = psycopg.connect(f"{database.web_url}&options=-c%20transaction_timeout%3D{longest}ms")
    web.execute(ONE_STATE)
    return web


def test_what_only_reads_may_take_its_time(cloned_db: Database) -> None:
    """Such as `manage.py verify_house` with many millions of events."""
    longest = 20
    while True:
        try:
            web = reading(cloned_db, longest)
        except (errors.TransactionTimeout, psycopg.OperationalError):  # over before it could say that it only reads
            longest *= 10
            assert longest <= 20_000
        else:
            break
    with web:
        assert web.execute("SELECT pg_sleep(%s)", [5 * longest / 1000]).fetchone()


def test_web_and_workers_make_no_temporary_tables(cloned_db: Database) -> None:
    with psycopg.connect(cloned_db.web_url) as web, pytest.raises(errors.InsufficientPrivilege, match="temporary"):
        web.execute("CREATE TEMPORARY TABLE wallet_account AS SELECT * FROM public.wallet_account")

"""Who may enter a database: tests run on clones that are as closed as the house's own."""

import psycopg
import pytest
from psycopg import errors

from casino.embedded.places import DATABASE
from tests.harness.databases import Database

RIGHTS = """
SELECT CASE held.grantee WHEN 0 THEN 'everyone' WHEN datdba THEN 'owner' ELSE held.grantee::regrole::text END,
    held.privilege_type
FROM pg_database CROSS JOIN LATERAL aclexplode(coalesce(datacl, acldefault('d', datdba))) AS held
WHERE datname = %s ORDER BY 1, 2
"""


def test_a_clone_is_as_closed_as_the_database_of_a_house(cloned_db: Database) -> None:
    with psycopg.connect(cloned_db.superuser_url) as superuser:
        ours, clone = (superuser.execute(RIGHTS, [name]).fetchall() for name in (DATABASE, cloned_db.name))
    assert clone == ours
    assert [right for right in clone if right[0] != "owner"] == [("sabot_app", "CONNECT")]


def test_web_and_workers_make_no_temporary_tables(cloned_db: Database) -> None:
    with psycopg.connect(cloned_db.web_url) as web, pytest.raises(errors.InsufficientPrivilege, match="temporary"):
        web.execute("CREATE TEMPORARY TABLE wallet_account AS SELECT * FROM public.wallet_account")

"""The rights of the role of web and workers are those of ``ops/privileges.py``, in every table.

It cannot write money or events except through the functions.
"""

import re
from pathlib import Path

import psycopg
import pytest
from django.db import connections, transaction
from psycopg import errors

from ops.privileges import APP_ROLE, FUNCTIONS, ORDINARY, RIGHTS, apply_privileges
from tests.attacks.on_rows import NOT_NULL

TABLES = sorted(NOT_NULL)
GRANTED = """
    SELECT relname, acl.privilege_type, NULL FROM pg_class, aclexplode(relacl) AS acl
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
      AND acl.grantee IN (0, %(role)s::regrole)
    UNION ALL
    SELECT relname, acl.privilege_type, attname
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid, aclexplode(attacl) AS acl
    WHERE relnamespace = 'public'::regnamespace AND acl.grantee IN (0, %(role)s::regrole)
"""
CALLABLE = """
    SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef
    AND has_function_privilege(%(role)s, oid, 'EXECUTE')
"""
UNGUARDED = """
    SELECT DISTINCT c.relname FROM pg_class AS c
    CROSS JOIN LATERAL (
        SELECT acl.privilege_type AS action, NULL::smallint AS attnum FROM aclexplode(c.relacl) AS acl
        WHERE acl.grantee IN (0, %(role)s::regrole)
        UNION ALL
        SELECT acl.privilege_type, a.attnum FROM pg_attribute AS a, aclexplode(a.attacl) AS acl
        WHERE a.attrelid = c.oid AND acl.grantee IN (0, %(role)s::regrole)
    ) AS given
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND given.action IN ('UPDATE', 'DELETE', 'TRUNCATE')
      AND NOT EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
          AND t.tgtype & CASE given.action WHEN 'DELETE' THEN 8 WHEN 'UPDATE' THEN 16 ELSE 32 END > 0
          AND (given.action <> 'UPDATE' OR t.tgattr::text = '' OR given.attnum = ANY (t.tgattr::smallint[])))
"""
ACTIONS = {
    "SELECT": "SELECT FROM {table}",
    "INSERT": "INSERT INTO {table} DEFAULT VALUES",
    "UPDATE": 'UPDATE {table} SET "{column}" = "{column}"',
    "DELETE": "DELETE FROM {table}",
    "TRUNCATE": "TRUNCATE {table}",
}


def raw() -> psycopg.Connection:
    """Return the connection of web and workers, without Django's names for errors."""
    connections["default"].ensure_connection()
    found: psycopg.Connection = connections["default"].connection
    return found


def declared(rights: str) -> set[tuple[str, str | None]]:
    """Read ``SELECT, UPDATE (status, note)``: each right with its column, None for all."""
    found: set[tuple[str, str | None]] = set()
    for right, columns in re.findall(r"(\w+)(?: \(([^)]*)\))?", rights):
        found |= {(right, column) for column in columns.split(", ")} if columns else {(right, None)}
    return found


@pytest.mark.django_db
def test_gli19_b_2_5_rights_are_those_declared_in_every_table():
    granted: dict[str, set[tuple[str, str | None]]] = {}
    for table, right, column in raw().execute(GRANTED, {"role": APP_ROLE}).fetchall():
        granted.setdefault(table, set()).add((right, column))
    with connections["default"].cursor() as cursor:
        listed = connections["default"].introspection.get_table_list(cursor)
    tables = [each.name for each in listed if each.type != "p"]
    named = {table: declared(RIGHTS.get(table, ORDINARY)) for table in tables}
    assert granted == {table: rights for table, rights in named.items() if rights}


@pytest.mark.django_db
def test_only_declared_functions_run_as_the_owner():
    assert {name for (name,) in raw().execute(CALLABLE, {"role": APP_ROLE}).fetchall()} == set(FUNCTIONS)


@pytest.mark.django_db
@pytest.mark.parametrize("table", TABLES)
def test_gli19_b_3_2_what_is_not_declared_is_refused(table):
    allowed = {right for right, _ in declared(RIGHTS.get(table, ORDINARY))}
    written = {column for right, column in declared(RIGHTS.get(table, ORDINARY)) if right == "UPDATE"}
    column = next((each for each in NOT_NULL[table].split() if each not in written), "")
    for right, action in ACTIONS.items():
        if right in allowed and (right != "UPDATE" or None in written):
            continue
        with pytest.raises(errors.InsufficientPrivilege), raw().transaction():
            raw().execute(action.format(table=table, column=column))


@pytest.mark.django_db(databases=["default", "owner"])
def test_a_right_that_is_declared_no_more_is_taken_away():
    owner = connections["owner"]
    with transaction.atomic(using="owner"), owner.cursor() as cursor:
        cursor.execute(f"GRANT EXECUTE ON FUNCTION wallet_write TO {APP_ROLE}")
        cursor.execute(f"GRANT INSERT ON wallet_entry TO {APP_ROLE}")
        apply_privileges(owner)
        cursor.execute(
            "SELECT has_function_privilege(%(role)s, 'wallet_write(jsonb, boolean)', 'EXECUTE'),"
            " has_table_privilege(%(role)s, 'wallet_entry', 'INSERT')",
            {"role": APP_ROLE},
        )
        assert cursor.fetchone() == (False, False)
        transaction.set_rollback(True, using="owner")


@pytest.mark.django_db
def test_rights_that_no_trigger_guards_are_listed_with_the_reason_why_they_do_no_harm():
    """In docs/security.md: what web and workers may change or delete, although it is no evidence of anything."""
    found = raw().execute(UNGUARDED, {"role": APP_ROLE}).fetchall()
    listed = re.findall(r"^\| `(\w+)` \|", (Path("docs") / "security.md").read_text(), re.MULTILINE)
    for row in sorted(found):
        print(row)
    assert sorted(table for (table,) in found) == sorted(listed)

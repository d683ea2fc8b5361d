"""Months that have gone by, for tests of what becomes of them: a house that was just made has only its own and those to
come.
"""

import hashlib
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
from django.db import connections, transaction
from psycopg.sql import SQL, Identifier, Literal

from audit import archiving, log, partitions
from audit.models import ArchivedMonth
from bench.months import BY_MONTHS, make_months
from wallet import carried

make = make_months
"""Gives the house a table for every month from one on: `make(owner, since)`."""
NUMBERED: Final = ("audit_event", "wallet_journal")


def go_to(owner: psycopg.Connection[Any], month: datetime) -> None:
    """Have what is written from now on bear numbers of that month, until `audit_keep_months` is called. Its times are
    those at which it is written.
    """
    first = partitions.block(month)
    for table in NUMBERED:
        owner.execute(
            SQL(
                "SELECT setval(pg_get_serial_sequence({}, 'id'), coalesce(max(id) + 1, {}), false) FROM {}"
                " WHERE id >= {} AND id < {}"
            ).format(
                Literal(table),
                Literal(first),
                Identifier(table),
                Literal(first),
                Literal(first + (1 << partitions.SHIFT)),
            )
        )


def beginning(year: int, month: int) -> datetime:
    """Return when a month begins."""
    return datetime(year, month, 1, tzinfo=UTC)


def leave_events(owner: psycopg.Connection, month: datetime) -> None:
    """Have the events of all months up to that one go to archives, oldest first, as `manage.py archive_month` does. The
    files are nowhere.
    """
    beyond = partitions.block(_next(month))
    while (first := _cut(owner)) < beyond:
        _leave_one(owner, first)


def _leave_one(owner: psycopg.Connection, first: int) -> None:
    table, beyond = _oldest(owner)
    name = table.removeprefix("audit_event_").replace("_", "-")
    with owner.transaction(), owner.cursor() as opened:
        cursor: Any = opened
        archiving.demand_sealed(cursor, first, beyond)
        archiving.keep_needed(cursor, first, beyond)
        events, since, until = cursor.execute(
            "SELECT count(*), coalesce(min(at), audit_month_of(%s)), coalesce(max(at), audit_month_of(%s))"
            " FROM audit_event WHERE id < %s",
            [first, first, beyond],
        ).fetchone()
        file, sha256 = f"sabot-{name}.zip", hashlib.sha256(name.encode()).hexdigest()
        data = {"beyond": beyond, "carried": "", "events": events, "file": file, "first": first, "journals": 0}
        event = log.event("month.archived", by="system", on=f"month:{name}", data=data | {"sha256": sha256})
        (event_id,) = cursor.execute("SELECT audit_record(%s, %s, %s, %s, %s::jsonb)", astuple(event)).fetchone()
        cursor.execute(
            "INSERT INTO audit_archived"
            " (month, first, beyond, since, until, events, journals, file, sha256, event_id, said)"
            " SELECT %s, %s, %s, %s, %s, %s, 0, %s, %s, id, body FROM audit_event WHERE id = %s",
            [name, first, beyond, since, until, events, file, sha256, event_id],
        )
        cursor.execute(SQL("ALTER TABLE audit_event DETACH PARTITION {}").format(Identifier(table)))
        cursor.execute(SQL("DROP TABLE {}").format(Identifier(table)))


def _cut(owner: psycopg.Connection) -> int:
    found = owner.execute("SELECT audit_cut()").fetchone()
    assert found
    return int(found[0])


def _oldest(owner: psycopg.Connection) -> tuple[str, int]:
    """The oldest table of events, and the first id that it has no place for."""
    found = owner.execute(
        "SELECT c.relname, substring(pg_get_expr(c.relpartbound, c.oid) FROM $$TO \\('?(\\d+)'?\\)$$)::bigint AS beyond"
        " FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid"
        " WHERE i.inhparent = 'audit_event'::regclass ORDER BY beyond LIMIT 1"
    ).fetchone()
    assert found
    return str(found[0]), int(found[1])


def _next(month: datetime) -> datetime:
    return beginning(month.year + month.month // 12, month.month % 12 + 1)


@transaction.atomic(using="owner")
def leave(month: datetime | None) -> ArchivedMonth:
    """Have the oldest month that is still here go as `manage.py archive_month` has it go, but to no file: None stands
    for what came before all months.
    """
    name, table_of = (f"{month:%Y-%m}", f"{month:%Y_%m}") if month else ("before", "before")
    with connections["owner"].cursor() as cursor:
        first = ArchivedMonth.objects.using("owner").order_by("beyond").last()
        cursor.execute(
            r"SELECT substring(pg_get_expr(relpartbound, oid) FROM $$TO \('?(\d+)$$)::bigint FROM pg_class"
            " WHERE relname = %s",
            [f"wallet_journal_{table_of}"],
        )
        (beyond,) = cursor.fetchone()
        begins = first.beyond if first else 0
        cursor.execute(f"SELECT count(*) FROM wallet_journal_{table_of}")
        (journals,) = cursor.fetchone()
        cursor.execute(
            f"SELECT count(*), coalesce(min(at), now()), coalesce(max(at), now()) FROM audit_event_{table_of}"
        )
        events, since, until = cursor.fetchone()
        carried.carry(cursor, name, begins, beyond)
        said = {
            "beyond": str(beyond),
            "carried": carried.digest(cursor, name),
            "file": f"{name}.zip",
            "sha256": "00" * 32,
        }
        event = log.record("month.archived", by="system", on=f"month:{name}", data=said, using="owner")
        cursor.execute("SELECT body FROM audit_event WHERE id = %s", [event])
        (body,) = cursor.fetchone()
        gone = ArchivedMonth.objects.using("owner").create(
            month=name,
            first=begins,
            beyond=beyond,
            since=since,
            until=until,
            events=events,
            journals=journals,
            file=said["file"],
            sha256=said["sha256"],
            event_id=event,
            said=bytes(body),
        )
        for table in BY_MONTHS:
            cursor.execute(f"ALTER TABLE {table} DETACH PARTITION {table}_{table_of}")
            cursor.execute(f"DROP TABLE {table}_{table_of}")
    return gone

"""The event log: written with the change that it records, never changed, without personal data."""

import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import DataError, IntegrityError, connection, connections, transaction
from hypothesis import given
from hypothesis import strategies as st
from psycopg import errors

from audit import log
from audit.models import Event, Pending, Personal
from tests.harness.databases import let_everyone_make_temporary_tables

TABLES = ("audit_event", "audit_pending", "audit_personal")


class Refused(Exception):
    """Rolls a transaction back."""


def raw(alias):
    """Return the psycopg connection, without Django's errors, in the transaction of the test."""
    connections[alias].ensure_connection()
    return connections[alias].connection


def a_subject() -> str:
    return f"round:{uuid4()}"


def an_event(**changes) -> Event:
    fields = {"by": "player:1", "on": a_subject(), "data": {"stake": 1000}} | changes
    return Event.objects.get(pk=log.record("round.counted", **fields))


@pytest.mark.django_db
class TestAnEvent:
    def test_says_when_what_who_and_on_what(self):
        subject = a_subject()
        before = datetime.now(UTC) - timedelta(seconds=60)
        event = an_event(on=subject, data={"stake": 1000, "bets": ["player", "tie"]})
        assert (event.kind, event.by, event.on) == ("round.counted", "player:1", subject)
        assert before < event.at < datetime.now(UTC) + timedelta(seconds=60)
        assert json.loads(bytes(event.body)) == {
            "at": event.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "by": "player:1",
            "data": {"bets": ["player", "tie"], "stake": 1000},
            "kind": "round.counted",
            "on": subject,
        }

    def test_is_stored_as_canonical_bytes(self):
        event = an_event(data={"ö": "Åsa 🂡", "a": None, "b": True, "c": {"z": 1, "y": -2}})
        body = bytes(event.body)
        assert log.canonical(json.loads(body)).encode() == body
        assert '"data":{"a":null,"b":true,"c":{"y":-2,"z":1},"ö":"Åsa 🂡"}'.encode() in body

    def test_waits_to_be_sealed(self):
        event = an_event()
        assert Pending.objects.filter(event=event).count() == 1

    def test_holds_of_personal_data_the_salted_hash_alone(self):
        event = an_event(personal={"email": "astrid@example.com", "ip": "192.0.2.7"})
        body = json.loads(bytes(event.body))
        assert b"astrid" not in bytes(event.body)
        kept = {line.field: line for line in Personal.objects.filter(event=event)}
        assert {field: line.value for field, line in kept.items()} == {
            "email": "astrid@example.com",
            "ip": "192.0.2.7",
        }
        for field, line in kept.items():
            assert len(bytes(line.salt)) == 16
            assert body["personal"][field] == hashlib.sha256(bytes(line.salt) + line.value.encode()).hexdigest()

    def test_hashes_the_same_value_differently_every_time(self):
        first, second = (json.loads(bytes(an_event(personal={"ip": "192.0.2.7"}).body)) for _ in range(2))
        assert first["personal"]["ip"] != second["personal"]["ip"]


class TestCanonicalJson:
    @pytest.mark.parametrize("value", [0.5, {"a": 1.0}, [1, [2.5]], float("nan")])
    def test_has_no_floats(self, value):
        with pytest.raises(TypeError, match="float"):
            log.canonical(value)

    @pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), datetime(2026, 1, 1, tzinfo=UTC)])
    def test_has_nothing_without_a_single_spelling(self, value):
        with pytest.raises(TypeError):
            log.canonical(value)

    @pytest.mark.parametrize("value", [{1: "one"}, {"a": {None: 1}}])
    def test_has_text_for_keys(self, value):
        with pytest.raises(TypeError, match="key"):
            log.canonical(value)

    @pytest.mark.sweep
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
            max_leaves=20,
        )
    )
    def test_reads_back_as_what_it_was_and_is_written_one_way(self, value):
        text = log.canonical(value)
        assert json.loads(text) == value
        assert log.canonical(json.loads(text)) == text


def roll_back(*, record, subject, first=None):
    """Record an event in a transaction that rolls back; call *first* in it before."""
    with suppress(Refused), transaction.atomic():
        if first:
            first()
        record("round.refused", by="player:1", on=subject, data={}, personal={"ip": "192.0.2.7"})
        raise Refused


def break_transaction():
    with suppress(errors.DivisionByZero):
        raw("default").execute("SELECT 1 / 0")


class TestTransactions:
    def test_an_event_rolls_back_with_what_it_records(self, cloned_db):
        subject = a_subject()
        roll_back(record=log.record, subject=subject)
        assert not Event.objects.filter(on=subject).exists()

    def test_a_refusal_outlives_the_transaction_it_speaks_of(self, cloned_db):
        subject = a_subject()
        roll_back(record=log.record_refusal, subject=subject)
        event = Event.objects.get(on=subject)
        assert Personal.objects.filter(event=event).count() == 1

    def test_a_refusal_can_be_recorded_from_a_broken_transaction(self, cloned_db):
        subject = a_subject()
        roll_back(record=log.record_refusal, subject=subject, first=break_transaction)
        assert Event.objects.filter(on=subject).exists()


CHANGES = (
    "UPDATE audit_event SET kind = kind",
    "DELETE FROM audit_event",
    "TRUNCATE audit_event CASCADE",
    "UPDATE audit_personal SET value = value",
    "TRUNCATE audit_personal",
)
WRITES = (
    *CHANGES,
    "INSERT INTO audit_event (at, kind, by, \"on\", body) VALUES (now(), '', '', '', '')",
    "INSERT INTO audit_pending (event_id) VALUES (1)",
    "INSERT INTO audit_personal (event_id, field, salt, value) VALUES (1, '', '', '')",
    "UPDATE audit_pending SET event_id = event_id",
    "DELETE FROM audit_pending",
    "DELETE FROM audit_personal",
    "ALTER TABLE audit_event DISABLE TRIGGER USER",
)


@pytest.mark.django_db(databases=["default", "owner"])
class TestWhatIsKept:
    @pytest.mark.parametrize("change", CHANGES)
    def test_the_owner_cannot_change_it(self, change):
        with pytest.raises(errors.RestrictViolation, match="never changed"):
            raw("owner").execute(change)

    @pytest.mark.parametrize("write", WRITES)
    def test_the_login_role_cannot_write_it(self, write):
        with pytest.raises(errors.InsufficientPrivilege):
            raw("default").execute(write)

    @pytest.mark.parametrize("table", TABLES)
    def test_the_login_role_has_no_right_but_to_read(self, table):
        rights = ["INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN"]
        found = raw("default").execute(
            "SELECT what FROM unnest(%s::text[]) AS what WHERE has_table_privilege(%s, what)", [rights, table]
        )
        assert found.fetchall() == []

    def test_personal_data_can_be_erased_and_nothing_else(self):
        event = an_event(personal={"ip": "192.0.2.7"})
        raw("owner").execute("DELETE FROM audit_personal WHERE event_id = %s", [event.pk])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "said",
    [
        '{"by":"staff:9","data":{},"kind":"round.counted","on":"round:1"}',
        '{"by":"player:1","data":{},"kind":"round.void","on":"round:1"}',
        '{"by":"player:1","data":{},"kind":"round.counted","on":"round:2"}',
        '{"at":"1999-12-31T23:59:59.000000Z","by":"player:1","data":{},"kind":"round.counted","on":"round:1"}',
        "{}",
    ],
    ids=["by", "kind", "on", "at", "nothing"],
)
def test_an_event_cannot_say_something_else_than_its_columns(said):
    refused = pytest.raises(IntegrityError, match="something else")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT audit_record('round.counted', 'player:1', 'round:1', %s, NULL)", [said])


@pytest.mark.django_db
def test_an_event_must_be_json():
    with pytest.raises(DataError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT audit_record('round.counted', 'player:1', 'round:1', '{not json', NULL)")


def test_no_table_of_ones_own_slips_under_the_log(cloned_db):
    let_everyone_make_temporary_tables(cloned_db)
    raw("default").execute("CREATE TEMPORARY TABLE audit_event AS SELECT * FROM public.audit_event WHERE false")
    event_id = log.record("round.counted", by="system", on=a_subject(), data={})
    found = raw("default").execute("SELECT count(*) FROM public.audit_event WHERE id = %s", [event_id])
    assert found.fetchone() == (1,)

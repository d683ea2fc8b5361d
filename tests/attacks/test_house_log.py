"""The owner of the database changes the event log without its guards.

Within a minute the verification of the house names the change and notifies staff. Nothing more is
signed until a full verification finds nothing.
"""

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from psycopg.types.json import Jsonb

from audit import log
from audit.models import Checkpoint, Event, Leaf, ReportPage
from audit.sealing import alarms, sealer
from audit.verification import house, house_log
from players.models import Mail
from tests.attacks.test_house_rounds import unguarded
from tests.audit.reporting import a_kind, asked, made_here, registered
from tests.people import a_member_of_staff, events


def happen(times: int = 1) -> None:
    for number in range(times):
        log.record("test.happened", by="system", on="test:1", data={"number": number})


def minute() -> list[str]:
    """Return the findings of the minute task about the log."""
    return [each.text for each in house.run(is_whole=False) if each.verified == house_log.SEALED]


@pytest.fixture
def sealed(cloned_db, signed):
    """A log that was sealed, signed and verified."""
    a_member_of_staff("compliance")
    happen(600)
    assert sealer.seal().signed == sealer.leaves()
    assert minute() == []
    assert [each.text for each in house.run(is_whole=True, parts=["log"])] == []
    return cloned_db


CHANGED = {
    "a leaf": (
        "UPDATE audit_event SET body = convert_to(replace(convert_from(body, 'UTF8'), '300', '301'), 'UTF8')"
        " WHERE id = {event}"
    ),
    "an event that was removed": "DELETE FROM audit_event WHERE id = {event}",
    "a leaf with its hash": (
        "WITH changed AS (UPDATE audit_event SET body = body || ' '::bytea WHERE id = {event} RETURNING body)"
        " UPDATE audit_tile AS t SET hashes = overlay(hashes PLACING sha256('\\x00'::bytea || changed.body)"
        " FROM {leaf} % 256 * 32 + 1) FROM changed WHERE t.level = 0 AND t.number = {leaf} / 256"
    ),
}


@pytest.mark.parametrize("what", CHANGED)
def test_is_named_within_a_minute_and_stops_the_signing(sealed, what):
    event = Leaf.objects.get(leaf=300)
    with unguarded(sealed) as superuser:
        assert superuser.execute(CHANGED[what].format(event=event.event_id, leaf=300).encode()).rowcount
    signed = Checkpoint.objects.latest("size").size
    happen()
    assert sealer.seal().signed > signed  # without the verification, signing continues
    assert minute()
    assert alarms.begun(alarms.ALTERED)
    assert Mail.objects.latest("pk").subject == "Audit log altered: signing stopped"
    before = Checkpoint.objects.latest("size").size
    happen()
    assert sealer.seal().signed == before
    minute()
    assert Event.objects.filter(kind="log.altered").count() == 1


def test_signing_goes_on_once_a_whole_verification_finds_nothing(sealed):
    event = Leaf.objects.select_related("event").get(leaf=300).event
    with unguarded(sealed) as superuser:
        superuser.execute("UPDATE audit_event SET by = 'player:1' WHERE id = %s", [event.pk])
        assert f"event {event.pk}, leaf 300, by: the row has player:1; the event says system." in minute()
        superuser.execute("UPDATE audit_event SET by = 'system' WHERE id = %s", [event.pk])
    assert house.run(is_whole=True, parts=["log"]) == []
    assert alarms.begun(alarms.ALTERED) is None
    assert Mail.objects.latest("pk").subject == "Audit log is verified again"
    assert sealer.seal().signed == sealer.leaves()


def test_a_report_whose_rows_were_exchanged_is_found_once_until_it_is_as_it_was(cloned_db):
    with registered(a_kind()), transaction.atomic():
        report, _another = made_here(asked()), made_here(asked())
    change = "UPDATE audit_report_page SET rows = %s WHERE report_id = %s"
    rows = ReportPage.objects.get(report=report).rows
    assert house.run(is_whole=True, parts=["reports"]) == []
    with unguarded(cloned_db) as superuser:
        superuser.execute(change, [Jsonb([["cake"]]), report.pk])
        for _ in range(2):
            (finding,) = house.run(is_whole=True, parts=["reports"])
            assert f"screen of report {report.pk} differs" in finding.text
        assert len(events(house.FOUND, on="reports")) == 1
        superuser.execute(change, [Jsonb(rows), report.pk])
    assert house.run(is_whole=True, parts=["reports"]) == []
    assert house.open_findings() == []


def test_a_checkpoint_that_nobody_signed_is_named_and_stops_nothing(sealed):
    """Web can insert one, and nobody can remove it."""
    happen()
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_seal(9)")  # a leaf that nobody has signed yet
    Checkpoint.objects.create(size=601, root=bytes(32), at=Now(), note="nobody signed this\n")
    sealer.seal()
    (finding,) = house.run(is_whole=True, parts=["log"])
    assert finding.verified == house_log.SIGNED
    assert finding.text.startswith("leaf 600: the checkpoint of 601 leaves is not signed correctly: ")
    assert alarms.begun(alarms.ALTERED) is None

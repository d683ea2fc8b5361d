"""Nightly checks: no hour is missing, and no report has changed."""

from datetime import UTC, datetime

from django.db import transaction

from audit import hours
from audit.hours import HOUR
from audit.reports import verification
from audit.reports.kinds import Interval
from tests.audit.reporting import a_kind, asked, made_here, registered
from tests.hours import settle
from tests.people import events


def test_the_hour_in_which_sums_were_verified_yesterday_is_verified_tonight(db, monkeypatch):
    monkeypatch.setattr(hours, "_registered", {})
    verified: list[Interval] = []

    def add(whole: Interval) -> tuple[()]:
        verified.append(whole)
        return ()

    begin = datetime.now(UTC) - 40 * HOUR
    hours.register(
        "test",
        roll=lambda hour: 0,
        first=lambda since: begin if since is None else None,
        differences=add,
    )
    settle()
    hours.roll_due()
    hours.verify_last_day()
    (whole,) = verified
    assert whole.since <= datetime.now(UTC) - 25 * HOUR


def test_a_report_whose_rows_were_exchanged_is_put_on_record_once(cloned_db, owner):
    with registered(a_kind()), transaction.atomic():
        report, _another = made_here(asked()), made_here(asked())
    assert verification.verify_last_day() == 0
    with owner.transaction():
        owner.execute("ALTER TABLE audit_report_page DISABLE TRIGGER USER")
        owner.execute("UPDATE audit_report_page SET rows = '[[\"cake\"]]' WHERE report_id = %s", [report.pk])
        owner.execute("ALTER TABLE audit_report_page ENABLE TRIGGER USER")
    assert [verification.verify_last_day(), verification.verify_last_day()] == [1, 0]
    (told,) = events(verification.DIFFERS)
    assert (told["on"], told["data"]["what"]) == (f"report:{report.pk}", ["screen"])

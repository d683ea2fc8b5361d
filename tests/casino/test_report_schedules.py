"""Scheduled reports: planned by staff, made when their interval has ended, delivered, paused and ended."""

import errno
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from audit.models import Report
from audit.reports import kinds, verification
from audit.reports.kinds import Answer, CannotMake, Period, next_end
from audit.reports.requests import clock
from players.models import Delivery, Mail, ReportSchedule, Rhythm, ScheduledReport, ScheduleState, Staff
from players.staff import report_schedules
from tests.audit.reporting import SHOP, a_kind, asked, made_here, registered
from tests.harness.owner import update_as_owner
from tests.hours import settle
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

LIST = "/staff/reports/schedules/"


def fails(_asked: Any) -> Answer:
    raise CannotMake("The shop is closed.")


@pytest.fixture(autouse=True)
def _kinds() -> Iterator[None]:
    secret = a_kind("payouts", title="Payouts", permission="wallet.approve_withdrawal")
    with registered(a_kind(choices=[SHOP]), a_kind("broken", fails, title="Broken"), secret):
        yield


@pytest.fixture
def planner() -> Staff:
    return a_member_of_staff("compliance")


def browser_of(staff: Staff) -> Client:
    visitor = a_visitor()
    visitor.force_login(staff.user)
    return visitor


def day_has_ended(schedule: ReportSchedule) -> ReportSchedule:
    """Let the day of a schedule have ended twelve hours ago, in a zone where it is about noon now."""
    ahead = 12 - datetime.now(UTC).hour
    zone = f"Etc/GMT{-ahead:+d}"
    next_at = next_end(Period.YESTERDAY, now=clock(), zone=zone) - timedelta(days=1)
    update_as_owner(ReportSchedule.objects.filter(pk=schedule.pk), zone=zone, next_at=next_at)
    schedule.refresh_from_db()
    settle()
    return schedule


def a_schedule(by: Staff, kind: str = "sales", delivery: Delivery = Delivery.MAIL) -> ReportSchedule:
    """Return a daily schedule whose day has ended."""
    found = kinds.kind_of(kind)
    assert found
    schedule = report_schedules.plan(kind=found, rhythm=Rhythm.DAILY, zone="UTC", choices={}, delivery=delivery, by=by)
    return day_has_ended(schedule)


def made_by(schedule: ReportSchedule) -> Report:
    """Request and make the report that is due."""
    assert report_schedules.ask_due() == 1
    return made_here(schedule.reports.latest("pk").report)


@pytest.mark.parametrize(
    ("period", "end"),
    [
        (Period.YESTERDAY, datetime(2026, 3, 29, 22, tzinfo=UTC)),  # the day on which summer time begins
        (Period.LAST_WEEK, datetime(2026, 3, 29, 22, tzinfo=UTC)),
        (Period.LAST_MONTH, datetime(2026, 3, 31, 22, tzinfo=UTC)),
    ],
)
def test_the_next_run_is_at_midnight_where_the_operator_is(period, end):
    assert next_end(period, now=datetime(2026, 3, 29, 12, tzinfo=UTC), zone="Europe/Stockholm") == end
    assert next_end(period, now=end, zone="Europe/Stockholm") > end


def test_one_planned_on_its_page_is_made_once_for_the_day_before_and_mailed_with_a_link(planner):
    browser = browser_of(planner)
    sent = {"rhythm": "daily", "delivery": "mail", "zone": "Europe/Stockholm", "shop": "north"}
    assert "The report is scheduled." in browser.post("/staff/reports/sales/schedule/", sent, follow=True).text
    schedule = ReportSchedule.objects.get()
    assert schedule.next_at > clock()
    due = day_has_ended(schedule).next_at
    report = made_by(schedule)
    assert report_schedules.ask_due() == 0
    assert (report.until, report.choices["shop"], report.by) == (due, "north", str(planner))
    assert report.until - report.since == timedelta(days=1)
    assert report_schedules.deliver_due() == 1
    assert report_schedules.deliver_due() == 0
    (mail,) = Mail.objects.all()
    assert mail.address == planner.user.email
    assert f"/staff/reports/{report.pk}/" in mail.body
    assert "1,234.56" not in mail.body
    assert events("report.delivered", on=f"report:{report.pk}")
    listed = browser.get(LIST).text
    assert f'href="/staff/reports/{report.pk}/"' in listed
    assert "The northern one" in listed


def test_one_that_fails_is_reported_to_its_reader(planner):
    report = made_by(a_schedule(planner, "broken"))
    assert report_schedules.deliver_due() == 1
    (mail,) = Mail.objects.all()
    assert mail.subject == "A scheduled report failed: Broken"
    assert "The shop is closed." in mail.body
    assert f"/staff/reports/{report.pk}/" in mail.body
    assert "The shop is closed." in browser_of(planner).get(LIST).text


def test_files_are_written_to_the_folder_of_the_settings_whole_and_as_the_log_says(planner, settings, tmp_path):
    settings.REPORT_FOLDER = str(tmp_path)
    report = made_by(a_schedule(planner, delivery=Delivery.FOLDER))
    assert report_schedules.deliver_due() == 1
    name = verification.file_name(report)
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.csv", f"{name}.xlsx", f"{name}-about.json"}
    assert Path(tmp_path, f"{name}.csv").read_bytes() == b"".join(verification.pieces(report, "csv"))
    assert json.loads(Path(tmp_path, f"{name}-about.json").read_text())
    assert not Mail.objects.exists()


def test_a_folder_that_is_not_there_is_reported_once_and_tried_again(planner, settings, tmp_path):
    settings.REPORT_FOLDER = str(tmp_path / "mount")
    made_by(a_schedule(planner, delivery=Delivery.FOLDER))
    for _ in range(2):
        assert report_schedules.deliver_due() == 0
    (mail,) = Mail.objects.all()
    assert "The report folder does not exist." in mail.body
    reader = browser_of(planner)
    reader.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    assert "Der Berichtsordner existiert nicht." in reader.get(LIST).text
    Path(settings.REPORT_FOLDER).mkdir()
    assert report_schedules.deliver_due() == 1
    assert ScheduledReport.objects.get().failure == ""


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "The workers may not write to the report folder."),
        (errno.ENOSPC, "The report folder is full."),
        (errno.EIO, "The files could not be written to the report folder."),
    ],
)
def test_what_is_wrong_with_the_folder_is_said(number, said):
    assert report_schedules.said_of(OSError(number, "as the system says it")) == said


@pytest.mark.parametrize("kind", ["../outside", "payouts"])
def test_a_schedule_delivers_reports_of_its_own_kind_only(settings, tmp_path, kind):
    """A row written with a stolen login delivers no report of another kind, and stops no delivery."""
    (folder := tmp_path / "reports").mkdir()
    settings.REPORT_FOLDER = str(folder)
    schedule = a_schedule(a_member_of_staff("compliance"), delivery=Delivery.FOLDER)
    with registered(a_kind(kind)):
        forged = made_here(asked(kind))
    ScheduledReport.objects.create(report=forged, schedule=schedule)
    report_schedules.deliver_due()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert ScheduledReport.objects.get().failure == report_schedules.MAY_NOT


def test_who_may_not_read_the_report_at_that_time_gets_none_and_a_mail():
    schedule = a_schedule(a_member_of_staff("support"))
    assert report_schedules.ask_due() == 0
    schedule.refresh_from_db()
    assert (schedule.state, schedule.failure) == (ScheduleState.ENDED, report_schedules.MAY_NOT)
    assert not Report.objects.exists()
    (mail,) = Mail.objects.all()
    assert "is no longer allowed to read this report" in mail.body
    assert f"{LIST}\n" in mail.body


def test_is_paused_resumed_and_ended_with_a_reason_and_makes_nothing_while_paused(planner):
    schedule = a_schedule(planner)
    browser = browser_of(a_member_of_staff("compliance"))

    def change(state: str) -> None:
        sent = {"action": state, "chosen": schedule.pk, "confirm": "yes", "reason": "On leave"}
        assert "done for 1 of 1" in browser.post(LIST, sent).text

    change("paused")
    assert report_schedules.ask_due() == 0
    change("active")
    schedule.refresh_from_db()
    assert schedule.next_at > clock()  # what was due while it was paused is left out
    change("ended")
    assert "Skipped" in browser.post(LIST, {"action": "active", "chosen": schedule.pk}).text
    on = f"report_schedule:{schedule.pk}"
    for kind in ("paused", "resumed", "ended"):
        (event,) = events(f"report_schedule.{kind}", on=on)
        assert event["data"] == {"reason": "On leave"}


def test_a_report_that_the_reader_may_not_read_is_neither_listed_nor_changed_nor_planned():
    schedule = a_schedule(a_member_of_staff("finance"), "payouts")
    browser = browser_of(a_member_of_staff("compliance"))
    assert "Payouts" not in browser.get(LIST).text
    sent = {"action": "ended", "chosen": schedule.pk, "confirm": "yes", "reason": "x"}
    assert "Choose rows" in browser.post(LIST, sent, follow=True).text
    assert browser.get("/staff/reports/payouts/schedule/").status_code == 403
    schedule.refresh_from_db()
    assert schedule.state == ScheduleState.ACTIVE

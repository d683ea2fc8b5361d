"""Scheduled reports: plan one, request it when its day, week or month is over, and deliver it.

A schedule makes reports with the permissions that its staff member has at that time. Without them it
ends. A mail has a link to the report's page and none of its content. Files go to the folder
``REPORT_FOLDER``. Staff are notified of a report that fails and of one that cannot be written there.
"""

import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from audit import hours, log
from audit.models import Report, ReportState
from audit.reports import requests, verification
from audit.reports.files import about
from audit.reports.heading import Head
from audit.reports.kinds import Kind, Period, interval_of, kind_of, next_end
from players import mail
from players.models import Delivery, ReportSchedule, Rhythm, ScheduledReport, ScheduleState, Staff

logger = logging.getLogger(__name__)

SEE: Final = "audit.view_report"
PERIODS: Final[Mapping[str, Period]] = {
    Rhythm.DAILY: Period.YESTERDAY,
    Rhythm.WEEKLY: Period.LAST_WEEK,
    Rhythm.MONTHLY: Period.LAST_MONTH,
}
FILES: Final = ("csv", "xlsx")
EVENTS: Final = {
    ScheduleState.ACTIVE: "report_schedule.resumed",
    ScheduleState.PAUSED: "report_schedule.paused",
    ScheduleState.ENDED: "report_schedule.ended",
}
FROM: Final[Mapping[ScheduleState, tuple[ScheduleState, ...]]] = {
    ScheduleState.ACTIVE: (ScheduleState.PAUSED,),
    ScheduleState.PAUSED: (ScheduleState.ACTIVE,),
    ScheduleState.ENDED: (ScheduleState.ACTIVE, ScheduleState.PAUSED),
}
"""The states that each state can follow."""
MAY_NOT: Final = gettext_noop("The staff member who receives it is no longer allowed to read this report.")
UNWRITTEN: Final = gettext_noop("The files could not be written to the report folder.")
NO_FOLDER: Final = gettext_noop("The report folder does not exist.")
NO_RIGHT: Final = gettext_noop("The workers may not write to the report folder.")
NO_SPACE: Final = gettext_noop("The report folder is full.")
ERRORS: Final[Mapping[int, str]] = {
    errno.ENOENT: NO_FOLDER,
    errno.ENOTDIR: NO_FOLDER,
    errno.EACCES: NO_RIGHT,
    errno.EPERM: NO_RIGHT,
    errno.EROFS: NO_RIGHT,
    errno.ENOSPC: NO_SPACE,
    errno.EDQUOT: NO_SPACE,
}


class CannotSchedule(Exception):
    """The schedule is impossible. The message is a sentence for staff."""


def can_be_scheduled(kind: Kind) -> bool:
    """Return whether reports of a kind can be scheduled: not those about something that staff type in."""
    return all(choice.options for choice in kind.choices)


def may_read(staff: Staff, kind: Kind) -> bool:
    """Return whether a staff member may read reports of a kind now."""
    return staff.user.is_active and staff.user.has_perm(SEE) and staff.user.has_perm(kind.permission)


def title_of(schedule: ReportSchedule) -> str:
    """Return the title of the scheduled report, or the name of a kind that no longer exists."""
    kind = kind_of(schedule.kind)
    return kind.title if kind else schedule.kind


@transaction.atomic
def plan(
    *, kind: Kind, rhythm: Rhythm, zone: str, choices: Mapping[str, str], delivery: Delivery, by: Staff
) -> ReportSchedule:
    """Plan reports of *kind* for *by*. The first is made when the current day, week or month has ended.

    Raises CannotSchedule.
    """
    if not can_be_scheduled(kind):
        raise CannotSchedule(gettext("This report cannot be scheduled."))
    if delivery == Delivery.FOLDER and not settings.REPORT_FOLDER:
        raise CannotSchedule(gettext("No report folder is set up."))
    schedule = ReportSchedule.objects.create(
        staff=by,
        kind=kind.name,
        rhythm=rhythm,
        zone=zone,
        choices=dict(choices),
        delivery=delivery,
        next_at=next_end(PERIODS[rhythm], now=requests.clock(), zone=zone),
    )
    data = {"report": kind.name, "rhythm": str(rhythm), "delivery": str(delivery)}
    log.record("report_schedule.made", by=str(by), on=_name(schedule), data=data)
    return schedule


def change(schedule: ReportSchedule, state: ScheduleState, *, by: str, reason: str) -> None:
    """Pause, resume or end a locked schedule. A resumed one leaves out what was due while it was paused.

    Raises CannotSchedule if its state does not allow it.
    """
    if schedule.state not in FROM[state]:
        raise CannotSchedule(gettext("The schedule is %s.") % schedule.get_state_display())
    schedule.state = state
    if state is ScheduleState.ACTIVE:
        schedule.next_at = next_end(PERIODS[schedule.rhythm], now=requests.clock(), zone=schedule.zone)
    schedule.save(update_fields=["state", "next_at"])
    log.record(EVENTS[state], by=by, on=_name(schedule), data={"reason": reason})


def ask_due() -> int:
    """Request every scheduled report whose interval has ended and is completely written. Return how many.

    Concurrent calls request each report once: the schedule is locked, and moves on.
    """
    settled = hours.settled()
    due = ReportSchedule.objects.filter(state=ScheduleState.ACTIVE, next_at__lte=settled) if settled else ()
    return sum(_ask(schedule.pk) for schedule in due)


def deliver_due() -> int:
    """Deliver the scheduled reports that are ready, and tell of those that failed. Return how many."""
    over = (ReportState.READY, ReportState.FAILED)
    due = ScheduledReport.objects.filter(delivered_at=None, report__state__in=over)
    return sum(_deliver(number) for number in due.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _ask(schedule_id: int) -> bool:
    due = ReportSchedule.objects.filter(pk=schedule_id, state=ScheduleState.ACTIVE, next_at__lte=hours.settled())
    schedule = due.select_for_update(skip_locked=True, of=("self",)).select_related("staff__user").first()
    if schedule is None:
        return False  # another worker has it
    kind, period = kind_of(schedule.kind), PERIODS[schedule.rhythm]
    if kind is None or not may_read(schedule.staff, kind):
        _end(schedule, MAY_NOT)
        return False
    try:
        report = requests.ask(
            kind=kind.name,
            interval=interval_of(period, now=schedule.next_at, zone=schedule.zone),
            zone=schedule.zone,
            period=period,
            by=str(schedule.staff),
            choices=schedule.choices,
        )
    except requests.CannotAsk as error:
        _end(schedule, str(error))
        return False
    ScheduledReport.objects.create(report=report, schedule=schedule)
    schedule.next_at = next_end(period, now=schedule.next_at, zone=schedule.zone)
    schedule.save(update_fields=["next_at"])
    return True


@transaction.atomic
def _deliver(report_id: int) -> bool:
    waiting = ScheduledReport.objects.filter(pk=report_id, delivered_at=None).select_related(
        "report", "schedule__staff__user"
    )
    scheduled = waiting.select_for_update(skip_locked=True, of=("self",)).first()
    if scheduled is None:
        return False
    report, schedule = scheduled.report, scheduled.schedule
    kind, is_tried_again = kind_of(schedule.kind), False
    # The kind of the report is part of the names of its files.
    if kind is None or report.kind != kind.name or not may_read(schedule.staff, kind):
        failure, is_reported = MAY_NOT, False
    elif report.state == ReportState.FAILED:
        failure, is_reported = report.failure, True
    elif schedule.delivery == Delivery.FOLDER:
        failure = _write(report)
        is_tried_again, is_reported = bool(failure), failure not in ("", scheduled.failure)
    else:
        failure, is_reported = "", True
    if is_reported:
        _tell(schedule, report, failure)
    if not failure:
        data = {"to": str(schedule.staff), "by": schedule.delivery}
        log.record("report.delivered", by="system", on=f"report:{report.pk}", data=data)
    scheduled.failure, scheduled.delivered_at = failure, None if is_tried_again else requests.clock()
    scheduled.save(update_fields=["delivered_at", "failure"])
    return not is_tried_again


def _end(schedule: ReportSchedule, why: str) -> None:
    """End a schedule that can no longer make reports, and notify its staff member if the account is in use."""
    schedule.state, schedule.failure = ScheduleState.ENDED, why
    schedule.save(update_fields=["state", "failure"])
    log.record(EVENTS[ScheduleState.ENDED], by="system", on=_name(schedule), data={"reason": why})
    if schedule.staff.user.is_active:
        context = {"title": title_of(schedule), "failure": why, "ended": True}
        user, page = schedule.staff.user, "staff_report_schedules"
        mail.write_to_staff(user=user, template="scheduled_report", context=context, page=page)


def _tell(schedule: ReportSchedule, report: Report, failure: str) -> None:
    context = {"title": title_of(schedule), "rhythm": Rhythm(schedule.rhythm).label, "failure": failure}
    user, page = schedule.staff.user, "staff_report"
    mail.write_to_staff(user=user, template="scheduled_report", context=context, page=page, of=[report.pk])


def _write(report: Report) -> str:
    """Write the files of a report to the folder, each whole or not at all. Return why not, "" if it was done."""
    try:
        for name, pieces in _files(report):
            path = Path(settings.REPORT_FOLDER, name)
            begun = path.with_name(f".{name}.part")
            with begun.open("wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            begun.replace(path)
    except OSError as error:
        logger.warning("report %s: the folder %s: %s", report.pk, settings.REPORT_FOLDER, error.strerror)
        return said_of(error)
    return ""


def said_of(error: OSError) -> str:
    """Return a sentence about what prevented the files from being written."""
    return ERRORS.get(error.errno or 0, UNWRITTEN)


def _files(report: Report) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the names and contents of the files: the rows, and last what else belongs to the report."""
    name = verification.file_name(report)
    for ending in FILES:
        yield f"{name}.{ending}", verification.pieces(report, ending)
    said = verification.said(report)
    rest = about(Head.read(report.head or {}), report.done, said.digests if said else {})
    yield f"{name}-about.json", iter([json.dumps(rest, ensure_ascii=False, indent=2).encode()])


def _name(schedule: ReportSchedule) -> str:
    return f"report_schedule:{schedule.pk}"

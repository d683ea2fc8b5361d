"""Scheduled changes: approved changes that wait until their time, are withdrawn, or go live.

The time is by the database's clock. The end of a wait is written once, by the first worker.
"""

from collections.abc import Sequence
from typing import Final

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from audit import approvals, log
from audit.log import Json
from audit.models import Approval, Clock
from games.models import HowEnded, ScheduledVersion, ScheduleEnding, Table
from games.tables.checks import TableError

# Errors of a request that is outdated at its time: figures, games or tables that no longer exist.
GONE: Final = (TableError, ObjectDoesNotExist, KeyError, ValueError)
REFUSED: Final = (*GONE, approvals.ApprovalError, IntegrityError)


class EndedAlready(TableError):
    """The scheduled change has already ended."""

    def __init__(self) -> None:
        super().__init__("This scheduled change is already live, failed or withdrawn.")


def waiting() -> QuerySet[ScheduledVersion]:
    """Return the scheduled changes that wait, the next one first."""
    return ScheduledVersion.objects.filter(ending=None).select_related("approval").order_by("due_at", "pk")


def of_table(table: Table) -> QuerySet[ScheduledVersion]:
    """Return the scheduled changes of a table that wait."""
    return waiting().filter(approval__on=f"table:{table.pk}")


def due() -> Sequence[int]:
    """Return the ids of the approvals whose changes are due."""
    return list(waiting().filter(due_at__lte=Clock()).values_list("pk", flat=True))


@transaction.atomic
def withdraw(*, approval_id: int, reason: str, by: str) -> ScheduleEnding:
    """Withdraw a scheduled change.

    Raises TableError without a reason, EndedAlready, ScheduledVersion.DoesNotExist.
    """
    if not reason.strip():
        raise TableError("Enter a reason. It is recorded in the audit log.")
    ending = end(approval_id, HowEnded.WITHDRAWN, by=by, reason=reason.strip())
    _record("table.schedule_withdrawn", ending)
    return ending


@transaction.atomic
def fail(approval_id: int, error: Exception) -> ScheduleEnding:
    """Record that a scheduled change failed, and why. Raises EndedAlready."""
    ending = end(approval_id, HowEnded.FAILED, by="system", reason=str(error))
    _record("table.schedule_failed", ending)
    return ending


def end(approval_id: int, how: HowEnded, *, by: str, reason: str) -> ScheduleEnding:
    """Record the end of a wait.

    A concurrent second call waits for the first and then fails.

    Raises EndedAlready, ScheduledVersion.DoesNotExist.
    """
    scheduled = ScheduledVersion.objects.select_related("approval").get(pk=approval_id)
    try:
        with transaction.atomic():
            return ScheduleEnding.objects.create(schedule=scheduled, how=how, by=by, reason=reason)
    except IntegrityError as error:
        raise EndedAlready from error


def begin(asked: Approval, due_at: str, *, by: str) -> None:
    """Schedule an approved change."""
    ScheduledVersion.objects.create(approval=asked, due_at=due_at)
    data: dict[str, Json] = {"approval": asked.pk, "asked_by": asked.by, "due": due_at, "reason": asked.reason}
    log.record("table.scheduled", by=by, on=asked.on, data=data)


def _record(kind: str, ending: ScheduleEnding) -> None:
    scheduled = ending.schedule
    data: dict[str, Json] = {
        "approval": scheduled.pk,
        "due": scheduled.due_at.isoformat(),
        "reason": ending.reason,
    }
    log.record(kind, by=ending.by, on=scheduled.approval.on, data=data)

"""Executes approved change requests, at once or at their time, and keeps their schedule.

The time is by the database's clock. The end of a wait is written once, by the first worker.

Nothing else executes them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, cast

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from audit.models import Clock as DatabaseClock
from games.change_requests import requests
from games.engine.chemin.state import there
from games.models import HowEnded, ScheduledVersion, ScheduleEnding, Shape, Table
from games.tables import status, versions
from games.tables.checks import TableClock, TableEligibility, TableError, TableLimits
from games.tables.chemin_rules import CheminClock
from games.tables.clock import Clock
from games.tables.versions import Approved

# Errors of a request that is outdated at its time: figures, games or tables that no longer exist.
GONE: Final = (TableError, ObjectDoesNotExist, KeyError, ValueError)
REFUSED: Final = (*GONE, approvals.ApprovalError, IntegrityError)


class EndedAlready(TableError):
    """The scheduled change has already ended."""

    def __init__(self) -> None:
        super().__init__(gettext("This scheduled change is already live, failed or withdrawn."))


def waiting() -> QuerySet[ScheduledVersion]:
    """Return the scheduled changes that wait, the next one first."""
    return ScheduledVersion.objects.filter(ending=None).select_related("approval").order_by("due_at", "pk")


def of_table(table: Table) -> QuerySet[ScheduledVersion]:
    """Return the scheduled changes of a table that wait."""
    return waiting().filter(approval__on=f"table:{table.pk}")


def due() -> Sequence[int]:
    """Return the ids of the approvals whose changes are due."""
    return list(waiting().filter(due_at__lte=DatabaseClock()).values_list("pk", flat=True))


@transaction.atomic
def withdraw(*, approval_id: int, reason: str, by: str) -> ScheduleEnding:
    """Withdraw a scheduled change.

    Raises TableError without a reason, EndedAlready, ScheduledVersion.DoesNotExist.
    """
    if not reason.strip():
        raise TableError(gettext("Enter a reason. It is recorded in the audit log."))
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


def execute(request: Mapping[str, Json], verdict: approvals.Verdicted) -> None:
    """Execute the request, or schedule it for its time.

    Raises approvals.CannotExecute if it no longer fits.
    """
    asked = Approval.objects.get(pk=verdict.approval_id)
    try:
        if request["goes_live_at"] is None:
            _do(request, _approved(asked, request, verdict.by, None))
        else:
            _check(request)
            begin(asked, str(request["goes_live_at"]), by=verdict.by)
    except GONE as error:
        raise approvals.CannotExecute(str(error)) from error


def go_live(approval_id: int) -> bool:
    """Put a scheduled change live unless this was done already.

    Return whether it was done.

    A change that is no longer possible fails for good, and the failure is recorded.
    """
    try:
        with transaction.atomic():
            ending = end(approval_id, HowEnded.LIVE, by="system", reason="")
            scheduled = ending.schedule
            request, decided_by = approvals.thaw(scheduled.approval), scheduled.approval.decision.by
            _do(request, _approved(scheduled.approval, request, decided_by, scheduled.due_at))
    except EndedAlready:
        return False
    except REFUSED as error:
        fail(approval_id, error)
        return False
    return True


def limits_of(request: Mapping[str, Json]) -> TableLimits:
    """Return the limits in a request."""
    return cast("TableLimits", request["limits"])


def clock_of(request: Mapping[str, Json], shape: Shape) -> TableClock | None:
    """Return the pace in a request."""
    stored = cast("dict[str, int] | None", request["clock"])
    if stored is None:
        return None
    return (CheminClock if shape is Shape.CHEMIN else Clock).of(stored)


def eligibility_of(request: Mapping[str, Json]) -> TableEligibility | None:
    """Return the players and money in a request, or None if it keeps both.

    Older requests do not contain them.
    """
    if "jurisdictions" not in request:
        return None
    return TableEligibility(cast("list[str]", request["jurisdictions"]), cast("list[str]", request["modes"]))


def _approved(asked: Approval, request: Mapping[str, Json], decided_by: str, due_at: datetime | None) -> Approved:
    return Approved(
        approval_id=asked.pk,
        asked_by=asked.by,
        decided_by=decided_by,
        reason=asked.reason,
        digest=str(request["digest"]),
        based_on=cast("int | None", request.get("based_on")),
        due_at=due_at,
    )


def _check(request: Mapping[str, Json]) -> None:
    """Refuse a request that could not be executed now. Raises TableError, Table.DoesNotExist."""
    limits, eligibility = limits_of(request), eligibility_of(request)
    if "table" not in request:
        requests.check_table(request, limits, clock_of(request, Shape(str(request["shape"]))), there(eligibility))
        return
    table = Table.objects.select_for_update(of=("self",)).select_related("version").get(pk=str(request["table"]))
    if of_table(table).exists():
        raise TableError(gettext("Another version of this table is already scheduled. Withdraw it first."))
    based_on = cast("int", request["based_on"])
    versions.check_is_as_asked(table, digest=str(request["digest"]), based_on=based_on)
    versions.check_change(table, limits, clock_of(request, Shape(table.shape)), eligibility)


def _do(request: Mapping[str, Json], approved: Approved) -> None:
    """Execute the request now. Raises TableError, Table.DoesNotExist."""
    if "table" in request:
        _put_live(request, approved)
    else:
        _make(request, approved)


def _put_live(request: Mapping[str, Json], approved: Approved) -> None:
    table = Table.objects.get(pk=str(request["table"]))
    if approved.due_at is None and of_table(table).exists():
        raise TableError(gettext("Another version of this table is already scheduled. Withdraw it first."))
    versions.new_version(
        table_id=table.pk,
        limits=limits_of(request),
        clock=clock_of(request, Shape(table.shape)),
        eligibility=eligibility_of(request),
        reason=approved.reason,
        by=approved.decided_by,
        approval=approved,
    )


def _make(request: Mapping[str, Json], approved: Approved) -> None:
    shape, limits = Shape(str(request["shape"])), limits_of(request)
    clock, eligibility = clock_of(request, shape), there(eligibility_of(request))
    requests.check_table(request, limits, clock, eligibility)
    table = versions.make_table(
        slug=str(request["slug"]),
        name=str(request["name"]),
        variant=str(request["variant"]),
        shape=shape,
        limits=limits,
        clock=clock,
        eligibility=eligibility,
        by=approved.decided_by,
        approval=approved,
    )
    versions.set_chat_language(table_id=table.pk, language=str(request["chat_language"]), by=approved.decided_by)
    if approved.due_at:
        status.open_table(table_id=table.pk, reason=approved.reason, by=approved.decided_by)

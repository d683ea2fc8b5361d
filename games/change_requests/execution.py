"""Executes approved change requests: creates a table or puts a version live, at once or at its
time.

Nothing else executes them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from django.db import transaction

from audit import approvals
from audit.log import Json
from audit.models import Approval
from games.change_requests import requests, schedule
from games.engine.chemin.state import there
from games.models import HowEnded, Shape, Table
from games.tables import status, versions
from games.tables.checks import TableClock, TableEligibility, TableError, TableLimits
from games.tables.chemin_rules import CheminClock
from games.tables.clock import Clock
from games.tables.versions import Approved


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
            schedule.begin(asked, str(request["goes_live_at"]), by=verdict.by)
    except schedule.GONE as error:
        raise approvals.CannotExecute(str(error)) from error


def go_live(approval_id: int) -> bool:
    """Put a scheduled change live unless this was done already.

    Return whether it was done.

    A change that is no longer possible fails for good, and the failure is recorded.
    """
    try:
        with transaction.atomic():
            ending = schedule.end(approval_id, HowEnded.LIVE, by="system", reason="")
            scheduled = ending.schedule
            request, decided_by = approvals.thaw(scheduled.approval), scheduled.approval.decision.by
            _do(request, _approved(scheduled.approval, request, decided_by, scheduled.due_at))
    except schedule.EndedAlready:
        return False
    except schedule.REFUSED as error:
        schedule.fail(approval_id, error)
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
    if schedule.of_table(table).exists():
        raise TableError("Another version of this table is already scheduled. Withdraw it first.")
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
    if approved.due_at is None and schedule.of_table(table).exists():
        raise TableError("Another version of this table is already scheduled. Withdraw it first.")
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

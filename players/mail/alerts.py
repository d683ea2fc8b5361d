"""Mail to staff about alerts and approvals.

One mail about significant events collects several alerts; the next follows after at least `PAUSE`.
It says only kinds and counts. Players and amounts are shown only in the back office.

Events of approvals are collected for some minutes and sent in one mail per person. So forty
approved withdrawals in an hour are a few mails, and a request decided by then is not announced. A
mail says only kinds and counts. Players are shown only in the back office.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from audit import approvals
from audit.log import Json
from audit.models import Approval, Category, Clock, Decision, Significant, Verdict, Weight
from audit.significant import workflow
from players import mail
from players.models import ApprovalNotification, Staff, User

TEMPLATES = {
    "log.refused": "log_refused",
    "log.accepted": "log_signed_again",
    "log.lags": "log_lags",
    "log.caught_up": "log_signed_again",
}


def mail_alert(kind: str, data: Mapping[str, Json]) -> None:
    """Mail an alarm to all staff who may read the event log, in the current transaction."""
    for user in holders("audit.view_event"):
        mail.write_to_staff(user=user, template=TEMPLATES[kind], context={"data": data})


def holders(permission: str) -> list[User]:
    """Return the active staff whose roles have a permission (``app.codename``)."""
    app, _dot, codename = permission.partition(".")
    return list(
        User.objects.filter(
            is_active=True,
            staff__isnull=False,
            groups__permissions__codename=codename,
            groups__permissions__content_type__app_label=app,
        )
        .select_related("staff")
        .distinct()
        .order_by("pk")
    )


PAUSE: Final = timedelta(minutes=5)  # between two mails
MOST: Final = 1000  # alerts per mail
LOCK: Final = 1021  # advisory lock, so that only one worker mails


@transaction.atomic
def mail_alerts() -> int:
    """Mail the alerts that have not been mailed, at most once per `PAUSE`. Return the number of alerts.

    An advisory lock prevents two workers from mailing the same alerts. Staff who muted a category
    get no alerts of it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        (is_alone,) = cursor.fetchone()
    alerts = Significant.objects.filter(weight=Weight.ALERT)
    if not is_alone or alerts.filter(mailed_at__gt=Clock() - PAUSE).exists():
        return 0
    found = list(alerts.filter(mailed_at=None).order_by("pk")[:MOST])
    if not found:
        return 0
    Significant.objects.filter(pk__in=[each.pk for each in found]).update(mailed_at=Clock())
    counted = Counter((Category(each.category), each.title) for each in found)
    for user in holders(workflow.PERMISSION):
        unwanted = workflow.muted(str(user.staff))
        lines = [
            (category.label, title, count) for (category, title), count in counted.items() if category not in unwanted
        ]
        if lines:
            count = sum(number for _category, _title, number in lines)
            mail.write_to_staff(user=user, template="significant", context={"lines": lines, "count": count})
    return len(found)


GATHERED_FOR: Final = timedelta(minutes=5)
# A concurrent worker waits here and finds the rows deleted.
TAKE: Final = "DELETE FROM players_approval_notification RETURNING approval_id"


def keep(asked: Approval) -> None:
    """Queue mail about an approval, in the current transaction."""
    ApprovalNotification.objects.create(approval=asked)


@transaction.atomic
def mail_due() -> int:
    """Mail the queued news once the oldest is `GATHERED_FOR` old. Return how many there were.

    Two workers never mail the same news. If a worker dies, its transaction rolls back and the next
    call mails the news.
    """
    if not ApprovalNotification.objects.filter(at__lte=Clock() - GATHERED_FOR).exists():
        return 0
    with connection.cursor() as cursor:
        cursor.execute(TAKE)
        concerned = [approval_id for (approval_id,) in cursor.fetchall()]
    _mail_deciders(approvals.waiting().filter(pk__in=concerned))
    ended = Decision.objects.filter(pk__in=concerned).exclude(verdict=Verdict.WITHDRAWN)
    _mail_requesters(ended.select_related("approval").order_by("pk"))
    return len(concerned)


def _mail_deciders(waiting: Iterable[Approval]) -> None:
    """Mail all who may decide one of the requests. A request of the same person is left out."""
    found = sorted(waiting, key=lambda asked: asked.expires_at)
    deciders = {user for each in {asked.kind for asked in found} for user in holders(approvals.kind(each).permission)}
    for user in sorted(deciders, key=lambda each: each.pk):
        mine = user.get_all_permissions()
        theirs = [
            asked
            for asked in found
            if approvals.kind(asked.kind).permission in mine and asked.person != user.staff.person
        ]
        if theirs:
            context = {"lines": _counted(theirs), "count": len(theirs), "first": theirs[0].expires_at}
            mail.write_to_staff(user=user, template="approvals_waiting", context=context)


def _mail_requesters(ended: Iterable[Decision]) -> None:
    """Mail all who asked for one of the requests, at the account that asked."""
    by_account: dict[str, list[Decision]] = {}
    for decision in ended:
        by_account.setdefault(decision.approval.by, []).append(decision)
    numbers = [account.removeprefix("staff:") for account in by_account]
    for member in Staff.objects.filter(pk__in=numbers, user__is_active=True).select_related("user").order_by("pk"):
        lines = [
            (each.approval_id, approvals.kind(each.approval.kind).title, each.get_verdict_display().lower())
            for each in by_account[str(member)]
        ]
        mail.write_to_staff(user=member.user, template="approvals_ended", context={"lines": lines})


def _counted(asked: Collection[Approval]) -> list[tuple[str, int]]:
    return sorted(Counter(approvals.kind(each.kind).title for each in asked).items())

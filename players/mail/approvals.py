"""Mail about approvals: to those who may decide, and to those who asked.

Events of approvals are collected for some minutes and sent in one mail per person. So forty
approved withdrawals in an hour are a few mails, and a request decided by then is not announced. A
mail says only kinds and counts. Players are shown only in the back office.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from audit import approvals
from audit.models import Approval, Clock, Decision, Verdict
from players import mail
from players.mail.alerts import holders
from players.models import ApprovalNotification, Staff

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

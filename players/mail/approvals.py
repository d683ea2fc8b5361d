"""Mail about what takes two people: to those who may decide, that something waits; to whoever asked, how it ended.

What happens to approvals is gathered for some minutes, and whoever it concerns gets one mail of it: an hour in which
finance approves forty withdrawals is a few mails and not forty, and what is decided meanwhile is no news of what waits.
A mail says of what kind requests are and how many. Whom they are about, the back office says, to whoever logs in.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from audit import approvals
from audit.models import Approval, Clock, Decision, Verdict
from players import mail
from players.mail.log_alarms import holders
from players.models import ApprovalNews, Staff

GATHERED_FOR: Final = timedelta(minutes=5)
# Whoever else takes them at once waits here, and finds them gone.
TAKE: Final = "DELETE FROM players_approval_news RETURNING approval_id"


def keep(asked: Approval) -> None:
    """Note, as part of the current transaction, that there is news of an approval."""
    ApprovalNews.objects.create(approval=asked)


@transaction.atomic
def mail_due() -> int:
    """Mail all news once the oldest of it is `GATHERED_FOR` old, and return how much it was. Two workers mail it once.

    A worker that dies has mailed nothing: the news is there still, and goes with the next call.
    """
    if not ApprovalNews.objects.filter(at__lte=Clock() - GATHERED_FOR).exists():
        return 0
    with connection.cursor() as cursor:
        cursor.execute(TAKE)
        concerned = [approval_id for (approval_id,) in cursor.fetchall()]
    _tell_deciders(approvals.waiting().filter(pk__in=concerned))
    ended = Decision.objects.filter(pk__in=concerned).exclude(verdict=Verdict.WITHDRAWN)
    _tell_askers(ended.select_related("approval").order_by("pk"))
    return len(concerned)


def _tell_deciders(waiting: Iterable[Approval]) -> None:
    """Write to everybody who may decide one of them: of its kind, and another person than the one who asked."""
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


def _tell_askers(ended: Iterable[Decision]) -> None:
    """Write to everybody who asked for one of them, under the account that asked."""
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

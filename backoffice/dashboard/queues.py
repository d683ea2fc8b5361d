"""Queues of open work and alarms: count, oldest waiting and next deadline of each; and the home page.

The home page, the sidebar and the dashboard show them, each with a link to the page that lists its
rows. A reader sees only the queues of pages that they may open. One SQL statement counts them all.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import DateTimeField, Exists, F, Min, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_safe

from audit.models import Event, Significant, Work
from audit.sealing import alarms
from backoffice.audit.approvals import READERS as APPROVAL_READERS
from backoffice.audit.approvals import waiting_for
from backoffice.chat import MODERATE, READ
from backoffice.collusion import EXAMINE
from backoffice.fairness import SEE as SEE_RETURNS
from backoffice.money import withdrawals
from backoffice.money.deposits import READERS as DEPOSIT_READERS
from backoffice.money.deposits import Doubt, in_doubt
from backoffice.money.partners import QUEUE_READERS as OPERATOR_READERS
from backoffice.money.provider_statements import READERS as STATEMENT_READERS
from backoffice.money.withdrawals import READERS as WITHDRAWAL_READERS
from backoffice.players.identity import REVIEW
from games.chat import moderation
from games.chemin.collusion import player_reports
from games.incidents import unruled
from games.models import LiveTable, ReturnsAlarm
from games.shared.floor.rows import READERS as TABLE_READERS
from players import cases
from players.access import StaffRequest, staff_required
from players.identity import duplicates, verification
from players.models import HOUSES_TURN, Case, CaseKind, Conversation, Staff, Topic
from players.support.complaints import ANSWER
from wallet.models import OperatorMessage, Withdrawal, WithdrawalStatus
from wallet.models.partners import MessageState
from wallet.provider_statements import drafts
from wallet.withdrawals import releases

COUNTED: Final = "open_work"  # attribute of a request: what `open_work` has counted
MOST: Final = 1000  # rows counted of each queue
SEE_INCIDENTS: Final = "games.view_incident"
SEE_LOG: Final = "audit.view_event"
WORK: Final = "players.work"  # permission of all staff
SIGNIFICANT: Final = "audit.handle_significant"
OF_QUEUE: Final = """
SELECT {number}, count(*), min(since), min(due), coalesce(min(due) < clock_timestamp(), false)
FROM ({rows}) AS queue (since, due)
"""
UNKNOWN: Final = Cast(Value(None), DateTimeField())

Rows = QuerySet[Any, tuple[datetime | None, datetime | None]]


@dataclass(frozen=True)
class Count:
    """Open rows of a queue, counted up to `MOST`.

    *is_more*: counting stopped there. *is_wrong*: any row is a fault, not only work. *since*: when the
    oldest began to wait. *due*: the next deadline. None: not known, or there is none.
    """

    name: Promise
    count: int
    page: str  # URL name
    query: str = ""
    is_more: bool = False
    is_wrong: bool = False
    since: datetime | None = None
    due: datetime | None = None
    is_late: bool = False

    @property
    def address(self) -> str:
        """URL of the page that lists them."""
        return reverse(self.page) + (f"?{self.query}" if self.query else "")


@dataclass(frozen=True, eq=False)
class Queue:
    """A kind of open work: who sees it, its name and page, and its rows (waiting since, due), oldest first."""

    permissions: tuple[str, ...]
    name: Promise
    page: str  # URL name
    rows: Callable[[Staff], Rows]
    query: str = ""
    is_wrong: bool = False


def _dated(rows: QuerySet[Any, Any], since: Any = UNKNOWN, due: Any = UNKNOWN, order: str = "pk") -> Rows:
    """Return when each row began to wait and when it is due; *order* uses the index of its page."""
    since, due = (F(each) if isinstance(each, str) else each for each in (since, due))
    return rows.order_by(order).values_list(since, due)


def _significant(_staff: Staff) -> Rows:
    return _dated(Significant.objects.filter(state=Work.NEW), "at")


def _withdrawals(_staff: Staff) -> Rows:
    return _dated(Withdrawal.objects.filter(status__in=withdrawals.WAITING), "at")


def _held_payouts(_staff: Staff) -> Rows:
    return _dated(releases.held(Withdrawal.objects.filter(status=WithdrawalStatus.APPROVED)), "at")


def _deposits(doubt: Doubt) -> Callable[[Staff], Rows]:
    since = "at" if doubt is Doubt.CONTRADICTED else "begun_at"
    return lambda _staff: _dated(in_doubt(doubt), since)


def _cases(staff: Staff) -> Rows:
    kinds = [kind for kind, permission in cases.PERMISSIONS.items() if staff.user.has_perm(permission)]
    kinds = [kind for kind in kinds if kind != CaseKind.DUPLICATE]  # they have a queue of their own
    return _dated(Case.objects.filter(closed_at=None, kind__in=kinds), "opened_at", "due_at", order="due_at")


def _messages(_staff: Staff) -> Rows:
    waiting = Conversation.objects.exclude(topic=Topic.COMPLAINT)  # they are cases
    return _dated(waiting.filter(state__in=HOUSES_TURN), "changed_at", order="changed_at")


def _chat(_staff: Staff) -> Rows:
    reported = moderation.open_reports().values("message").annotate(since=Min("at"))
    return reported.order_by("message").values_list("since", UNKNOWN)


def _duplicates(_staff: Staff) -> Rows:
    return duplicates.waiting().values_list("since", UNKNOWN)


def _log(_staff: Staff) -> Rows:
    """Return the events that began a condition of the log that has not ended."""
    lasting = Q(pk=None)
    for alarm in (alarms.REFUSED, alarms.LAGS, alarms.UNWITNESSED):
        over = Event.objects.filter(kind=alarm.ends, on=alarms.SUBJECT, pk__gt=OuterRef("pk"))
        lasting |= Q(Q(kind=alarm.begins, on=alarms.SUBJECT), ~Exists(over))
    return _dated(Event.objects.filter(lasting), "at")


QUEUES: Final = (
    Queue(
        (SEE_INCIDENTS,),
        pgettext_lazy("staff queue", "Incidents awaiting a ruling"),
        "staff_incidents",
        lambda _staff: _dated(unruled(), "at"),
        "state=awaiting",
        is_wrong=True,
    ),
    Queue(
        TABLE_READERS,
        pgettext_lazy("staff queue", "Stopped tables"),
        "staff_floor",
        lambda _staff: _dated(LiveTable.objects.filter(stopped_by__isnull=False), "stopped_by__at"),
        is_wrong=True,
    ),
    Queue(
        (SEE_RETURNS,),
        pgettext_lazy("staff queue", "RTP alarms"),
        "staff_returns",
        lambda _staff: _dated(ReturnsAlarm.objects.all(), "at"),
        is_wrong=True,
    ),
    Queue((SEE_LOG,), pgettext_lazy("staff queue", "Audit log alarms"), "staff_log", _log, is_wrong=True),
    Queue(
        (SIGNIFICANT,),
        pgettext_lazy("staff queue", "Significant events to acknowledge"),
        "staff_significant",
        _significant,
        "state=new",
    ),
    Queue(
        APPROVAL_READERS,
        pgettext_lazy("staff queue", "Requests to approve"),
        "staff_approvals",
        lambda staff: _dated(waiting_for(staff), "at", "expires_at"),
    ),
    Queue(
        WITHDRAWAL_READERS,
        pgettext_lazy("staff queue", "Withdrawals to approve"),
        "staff_withdrawals",
        _withdrawals,
    ),
    Queue(
        WITHDRAWAL_READERS,
        pgettext_lazy("staff queue", "Withdrawals on hold"),
        "staff_withdrawals",
        _held_payouts,
        "state=approved",
    ),
    *(
        Queue(DEPOSIT_READERS, name, "staff_deposits", _deposits(doubt), urlencode({"doubt": doubt}), is_wrong=True)
        for doubt, name in (
            (Doubt.OPEN, pgettext_lazy("staff queue", "Deposits: overdue or disputed")),
            (Doubt.AMOUNT, pgettext_lazy("staff queue", "Deposits: amount differs, not credited")),
            (Doubt.HELD, pgettext_lazy("staff queue", "Deposits: arrived, not credited, to be sent back")),
            (Doubt.CONTRADICTED, pgettext_lazy("staff queue", "Deposits: credited, then reversed by the provider")),
        )
    ),
    Queue(
        OPERATOR_READERS,
        pgettext_lazy("staff queue", "Operator messages in doubt"),
        "staff_operators",
        lambda _staff: _dated(OperatorMessage.objects.filter(state=MessageState.DOUBT), "at"),
        is_wrong=True,
    ),
    Queue(
        STATEMENT_READERS,
        pgettext_lazy("staff queue", "Provider statements with open differences"),
        "staff_statements",
        lambda _staff: _dated(drafts.with_open_differences(), "at"),
        "open=1",
        is_wrong=True,
    ),
    Queue(
        (REVIEW,),
        pgettext_lazy("staff queue", "Identities to review"),
        "staff_identity",
        lambda _staff: _dated(verification.waiting(), "sent_at", order="sent_at"),
    ),
    Queue((REVIEW,), pgettext_lazy("staff queue", "Possible duplicate accounts"), "staff_duplicates", _duplicates),
    Queue(
        (ANSWER,),
        pgettext_lazy("staff queue", "Unanswered player messages"),
        "staff_service",
        _messages,
    ),
    Queue(tuple(cases.PERMISSIONS.values()), pgettext_lazy("staff queue", "Open cases"), "staff_cases", _cases),
    Queue((MODERATE, READ), pgettext_lazy("staff queue", "Reported chat messages"), "staff_chat", _chat),
    Queue(
        (EXAMINE,),
        pgettext_lazy("staff queue", "Collusion reports"),
        "staff_play_reports",
        lambda _staff: _dated(player_reports.waiting(), "at"),
    ),
)
SEE: Final = tuple(dict.fromkeys(permission for queue in QUEUES for permission in queue.permissions))


def counts(staff: Staff) -> list[Count]:
    """Return the counts that *staff* may see, those of empty queues too."""
    mine = staff.user.get_all_permissions()
    queues = [queue for queue in QUEUES if not mine.isdisjoint(queue.permissions)]
    found = _count([queue.rows(staff) for queue in queues])
    return [
        Count(
            queue.name,
            min(count, MOST),
            queue.page,
            queue.query,
            is_more=count > MOST,
            is_wrong=queue.is_wrong,
            since=since,
            due=due,
            is_late=is_late,
        )
        for queue, (count, since, due, is_late) in zip(queues, found, strict=True)
    ]


def open_work(request: HttpRequest, staff: Staff) -> list[Count]:
    """Return the counts of the reader of a page, counted once for each request."""
    found: list[Count] | None = vars(request).get(COUNTED)
    if found is None:
        found = vars(request)[COUNTED] = counts(staff)
    return found


@staff_required(WORK)
@require_safe
def staff_home(request: StaffRequest) -> HttpResponse:
    """Show the queues of the reader's roles, the most urgent first."""
    queues = open_work(request, request.staff)
    context = {
        "waiting": sorted((each for each in queues if each.count), key=_urgency),
        "done": [each for each in queues if not each.count],
    }
    return render(request, "staff/home.html", context)


def _urgency(count: Count) -> tuple[bool, bool, float]:
    """Sort late queues first, then faults, then the longest waiting."""
    return not count.is_late, not count.is_wrong, count.since.timestamp() if count.since else 0


Counted = tuple[int, datetime | None, datetime | None, bool]


def _count(queues: Sequence[Rows]) -> list[Counted]:
    """Return count, first beginning, next deadline, and whether that is past, of each; in one statement."""
    parts: list[str] = []
    params: list[Any] = []
    for number, rows in enumerate(queues):
        with suppress(EmptyResultSet):
            text, given = rows[: MOST + 1].query.sql_with_params()
            parts.append(OF_QUEUE.format(number=number, rows=text))
            params += given
    counted: list[Counted] = [(0, None, None, False)] * len(queues)
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), params)
            for number, count, since, due, is_late in cursor.fetchall():
                counted[number] = (count, since, due, is_late)
    return counted

"""Open tasks and alarms on the dashboard: counts, each with a link to the page that lists them.

A reader sees only the counts of pages that they may open.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from audit.sealing import alarms
from audit.significant import workflow
from backoffice.audit.approvals import READERS as APPROVAL_READERS
from backoffice.audit.approvals import waiting_for
from backoffice.chat import MODERATE, READ
from backoffice.collusion import EXAMINE
from backoffice.fairness import SEE as SEE_RETURNS
from backoffice.money import deposits, withdrawals
from backoffice.money.deposits import READERS as DEPOSIT_READERS
from backoffice.money.provider_statements import READERS as STATEMENT_READERS
from backoffice.money.withdrawals import READERS as WITHDRAWAL_READERS
from games.chat import moderation
from games.chemin.collusion import player_reports
from games.incidents import unruled
from games.models import LiveTable, ReturnsAlarm
from games.shared.floor.rows import READERS as TABLE_READERS
from players.models import HOUSES_TURN, Conversation, Staff
from players.support import complaints
from players.support.complaints import ANSWER
from wallet.provider_statements import drafts

SEE_INCIDENTS: Final = "games.view_incident"
SEE_LOG: Final = "audit.view_event"
SIGNIFICANT: Final = "audit.handle_significant"


@dataclass(frozen=True)
class Count:
    """Number of open items. *is_more*: counting stopped at this number."""

    name: str
    count: int
    page: str  # URL name
    query: str = ""
    is_more: bool = False
    is_wrong: bool = False  # whether any of them is a fault, not only work

    @property
    def address(self) -> str:
        """URL of the page that lists them."""
        return reverse(self.page) + (f"?{self.query}" if self.query else "")


Counter = Callable[[Staff], Iterator[Count]]


def _incidents(_staff: Staff) -> Iterator[Count]:
    yield Count("Incidents awaiting ruling", unruled().count(), "staff_incidents", "state=awaiting", is_wrong=True)


def _tables(_staff: Staff) -> Iterator[Count]:
    stopped = LiveTable.objects.filter(stopped_by__isnull=False).count()
    yield Count("Stopped tables", stopped, "staff_floor", is_wrong=True)


def _returns(_staff: Staff) -> Iterator[Count]:
    yield Count("RTP alarms", ReturnsAlarm.objects.count(), "staff_returns", is_wrong=True)


def _log(_staff: Staff) -> Iterator[Count]:
    lasting = sum(alarms.begun(alarm) is not None for alarm in (alarms.REFUSED, alarms.LAGS, alarms.UNWITNESSED))
    yield Count("Audit log alarms", lasting, "staff_log", is_wrong=True)


def _significant(_staff: Staff) -> Iterator[Count]:
    waiting = workflow.waiting()
    is_more = waiting >= workflow.MOST_COUNTED
    yield Count("Significant events to acknowledge", waiting, "staff_significant", "state=new", is_more)


def _approvals(staff: Staff) -> Iterator[Count]:
    yield Count("Requests to approve", waiting_for(staff), "staff_approvals")


def _withdrawals(_staff: Staff) -> Iterator[Count]:
    waiting = [each for each in withdrawals.counted() if each.status in withdrawals.WAITING]
    is_more = any(each.is_more for each in waiting)
    yield Count("Withdrawals to approve", sum(each.count for each in waiting), "staff_withdrawals", is_more=is_more)


def _deposits(_staff: Staff) -> Iterator[Count]:
    for doubt, name, count, is_more in deposits.counted():
        title = f"Deposits: {name[0].lower()}{name[1:]}"
        yield Count(title, count, "staff_deposits", urlencode({"doubt": doubt}), is_more, is_wrong=True)


def _statements(_staff: Staff) -> Iterator[Count]:
    count = drafts.with_open_differences().count()
    yield Count("Provider statements with open differences", count, "staff_statements", "open=1", is_wrong=True)


def _messages(_staff: Staff) -> Iterator[Count]:
    waiting = Conversation.objects.filter(state__in=HOUSES_TURN).count()
    yield Count("Unanswered player messages", waiting, "staff_service")
    yield Count("Overdue complaints", complaints.overdue().count(), "staff_complaints", "show=overdue", is_wrong=True)


def _chat(_staff: Staff) -> Iterator[Count]:
    yield Count("Reported chat messages", moderation.waiting_count(), "staff_chat")


def _play(_staff: Staff) -> Iterator[Count]:
    yield Count("Collusion reports", player_reports.waiting().count(), "staff_play_reports")


COUNTERS: Final[tuple[tuple[tuple[str, ...], Counter], ...]] = (
    ((SEE_INCIDENTS,), _incidents),
    (TABLE_READERS, _tables),
    ((SEE_RETURNS,), _returns),
    ((SEE_LOG,), _log),
    ((SIGNIFICANT,), _significant),
    (APPROVAL_READERS, _approvals),
    (WITHDRAWAL_READERS, _withdrawals),
    (DEPOSIT_READERS, _deposits),
    (STATEMENT_READERS, _statements),
    ((ANSWER,), _messages),
    ((MODERATE, READ), _chat),
    ((EXAMINE,), _play),
)
SEE: Final = tuple(dict.fromkeys(permission for permissions, _counter in COUNTERS for permission in permissions))


def counts(staff: Staff) -> list[Count]:
    """Return the counts that *staff* may see."""
    mine = staff.user.get_all_permissions()
    return [count for permissions, told in COUNTERS if not mine.isdisjoint(permissions) for count in told(staff)]

"""Queues of messages and complaints, with keyset pagination.

A cursor is the key of the last row on the previous page. The cost of a page does not depend on its
position, because the query enters an index there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.utils.dateparse import parse_datetime

from backoffice.lists.framework.paging import BETWEEN, read
from players.models import HOUSES_TURN, Conversation, ConversationState, Topic
from players.support.complaints import SOON

PAGE: Final = 30
OPEN, MINE, NOBODYS, OVERDUE, ENDED = "", "mine", "nobodys", "overdue", "ended"  # which complaints to show


@dataclass(frozen=True)
class Page:
    """A page of conversations, and the cursor of the next page ("": none)."""

    rows: Sequence[Conversation]
    further: str


@dataclass(frozen=True)
class Order:
    """Order of a list: a time column ("": none), then the number. *falls*: newest first."""

    time: str
    falls: bool

    def page(self, found: QuerySet[Conversation], mark: str, limit: int = PAGE) -> Page:
        """Return the rows of *found* after the cursor *mark*.

        An invalid cursor leads to the first page.
        """
        rows = read(self._from(found, mark)[: limit + 1])
        return Page(rows[:limit], self._mark(rows[limit - 1]) if len(rows) > limit else "")

    def _from(self, found: QuerySet[Conversation], mark: str) -> QuerySet[Conversation]:
        sign, way = ("-", "lt") if self.falls else ("", "gt")
        found = found.order_by(*(f"{sign}{name}" for name in (self.time, "pk") if name))
        said, _between, number = mark.rpartition(BETWEEN)
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            return found
        if not self.time:
            return found.filter(**{f"pk__{way}": int(number)})
        at = _moment(said)
        if at is None:
            return found
        beyond = Q(**{f"{self.time}__{way}": at}) | Q(**{f"pk__{way}": int(number)})
        return found.filter(Q(**{f"{self.time}__{way}e": at}) & beyond)

    def _mark(self, row: Conversation) -> str:
        at = getattr(row, self.time) if self.time else None
        return BETWEEN.join(filter(None, [at.isoformat() if at else "", str(row.pk)]))


def messages(asked: dict[str, Any]) -> Page:
    """Return the messages that match *asked*.

    Messages of one player are newest first, closed ones last closed first, and waiting ones longest
    waiting first.
    """
    found = _narrowed(Conversation.objects.all(), asked)
    state = asked.get("state")
    if asked.get("topic"):
        found = found.filter(topic=asked["topic"])
    if asked.get("player"):
        order = Order("", falls=True)
        found = found.filter(state=state) if state else found
    else:
        order = Order("moved_at", falls=state == ConversationState.CLOSED)
        found = found.filter(state=state) if state else found.filter(state__in=HOUSES_TURN)
    return order.page(found, asked.get("before") or "")


def complaints(asked: dict[str, Any], *, me: int, limit: int = PAGE) -> Page:
    """Return the complaints that match *asked*; *me* is the number of the reader.

    Open complaints are first due first, ended ones last ended first.
    """
    found = _narrowed(Conversation.objects.filter(topic=Topic.COMPLAINT), asked)
    show, verdict = asked.get("show") or OPEN, asked.get("verdict")
    if show == ENDED or verdict:
        found = found.filter(state=ConversationState.CLOSED)
        order = Order("ended_at", falls=True)
    else:
        found = found.exclude(state=ConversationState.CLOSED)
        order = Order("due_at", falls=False)
    if verdict:
        found = found.filter(verdict=verdict)
    if show == MINE:
        found = found.filter(assigned_to=me)
    elif show == NOBODYS:
        found = found.filter(assigned_to=None)
    elif show == OVERDUE:
        found = found.filter(due_at__lt=Now())
    return order.page(found.select_related("assigned_to"), asked.get("before") or "", limit)


def _narrowed(found: QuerySet[Conversation], asked: dict[str, Any]) -> QuerySet[Conversation]:
    """Filter by player, jurisdiction and language, and annotate whether each is late or due soon."""
    if asked.get("player"):
        found = found.filter(player_id=asked["player"])
    if asked.get("where"):
        found = found.filter(player__jurisdiction=asked["where"])
    if asked.get("language"):
        found = found.filter(player__user__language=asked["language"])
    return found.select_related("player__jurisdiction", "player__user").annotate(
        is_late=_open_and(due_at__lt=Now()), is_soon=_open_and(due_at__gte=Now(), due_at__lt=Now() + SOON)
    )


def _open_and(**due: Any) -> Case:
    return Case(
        When(~Q(state=ConversationState.CLOSED) & Q(**due), then=Value(True)),
        default=Value(False),
        output_field=BooleanField(),
    )


def _moment(text: str) -> datetime | None:
    """Return the time in a cursor, None if it is invalid."""
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found and found.tzinfo else None

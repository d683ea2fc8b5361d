"""The lists that staff find messages and complaints by, a page at a time from a mark on. A mark is the key of the last
row above it, so that how far down a page stands costs nothing: an index is entered there.
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
OPEN, MINE, NOBODYS, OVERDUE, ENDED = "", "mine", "nobodys", "overdue", "ended"  # which complaints a desk shows


@dataclass(frozen=True)
class Page:
    """Some conversations, and the mark to ask for the next ones with ("": there are none)."""

    rows: Sequence[Conversation]
    further: str


@dataclass(frozen=True)
class Order:
    """What a list is ordered by: a column with a time ("": none), then the number; the newest first where it falls."""

    time: str
    falls: bool

    def page(self, found: QuerySet[Conversation], mark: str, limit: int = PAGE) -> Page:
        """Return the rows of *found* below *mark*; a mark that is none leads to the first page."""
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
    """Return the messages that are asked for: those of a player newest first, what is closed last closed first, and
    what waits for somebody the one that has waited longest first.
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
    """Return the complaints that are asked for, *me* being the number of whoever asks: open ones by the day they are to
    be decided, the others from the last that ended.
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
    """Return those of a player, of players in a jurisdiction or who read a language, with whether each is late."""
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
    """Return the moment that stands in a mark, None where it is none."""
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found and found.tzinfo else None

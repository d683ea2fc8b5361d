"""Queues of messages and complaints: which rows match, and their order."""

from typing import Any, Final

from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.db.models.functions import Now

from backoffice.lists.paging import NEWEST_FIRST, Order
from players.models import HOUSES_TURN, Conversation, ConversationState, Topic
from players.support.complaints import SOON

PAGE: Final = 30
OPEN, MINE, NOBODYS, OVERDUE, ENDED = "", "mine", "nobodys", "overdue", "ended"  # which complaints to show


def messages(asked: dict[str, Any]) -> tuple[QuerySet[Conversation], Order]:
    """Return the messages that match *asked*, and their order.

    Messages of one player are newest first, closed ones last closed first, and waiting ones longest
    waiting first.
    """
    found = _narrowed(Conversation.objects.all(), asked)
    state = asked.get("state")
    if asked.get("topic"):
        found = found.filter(topic=asked["topic"])
    if asked.get("player"):
        order = NEWEST_FIRST
        found = found.filter(state=state) if state else found
    else:
        order = Order(("changed_at", "id"), is_rising=state != ConversationState.CLOSED)
        found = found.filter(state=state) if state else found.filter(state__in=HOUSES_TURN)
    return found, order


def complaints(asked: dict[str, Any], *, me: int) -> tuple[QuerySet[Conversation], Order]:
    """Return the complaints that match *asked*, and their order; *me* is the number of the reader.

    Open complaints are first due first, ended ones last ended first.
    """
    found = _narrowed(Conversation.objects.filter(topic=Topic.COMPLAINT), asked)
    show, verdict = asked.get("show") or OPEN, asked.get("verdict")
    if show == ENDED or verdict:
        found = found.filter(state=ConversationState.CLOSED)
        order = Order(("ended_at", "id"))
    else:
        found = found.exclude(state=ConversationState.CLOSED)
        order = Order(("due_at", "id"), is_rising=True)
    if verdict:
        found = found.filter(verdict=verdict)
    if show == MINE:
        found = found.filter(assigned_to=me)
    elif show == NOBODYS:
        found = found.filter(assigned_to=None)
    elif show == OVERDUE:
        found = found.filter(due_at__lt=Now())
    return found.select_related("assigned_to"), order


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

"""Customer service conversations: players write, staff answer, either side closes.

Each step is recorded as an event without its text. `players.support.complaints` handles the other
steps of complaints. Error messages are sentences in the active language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from audit import log, retention
from audit.models import RetainedData
from players import cases, mail
from players.models import (
    HOUSES_TURN,
    Conversation,
    ConversationState,
    Player,
    ReplyTemplate,
    ServiceMessage,
    Staff,
    Topic,
    User,
)

LONGEST = 4000  # characters of a message
MOST_OPEN = 10  # unanswered conversations per player


class ServiceError(Exception):
    """Nothing was written. The message is for the reader."""


class TooManyOpen(ServiceError):
    """The player has `MOST_OPEN` unanswered conversations."""


class Closed(ServiceError):
    """The conversation is closed."""


class NewMessageArrived(ServiceError):
    """Another message was written after the last one that the staff member had read."""


class NobodyReads(ServiceError):
    """The player's account is closed."""


class IsComplaint(ServiceError):
    """A complaint is closed with an outcome, by `players.support.complaints`."""


@dataclass(frozen=True)
class RoundNamed:
    """A finished round of the player. The caller has checked it."""

    id: UUID
    code: str


@transaction.atomic
def begin(*, player: Player, topic: Topic, text: str, about: RoundNamed | None = None) -> Conversation:
    """Start a conversation by a player. For a complaint, the database opens its case.

    Raises TooManyOpen.
    """
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # serialises concurrent calls
    if Conversation.objects.filter(player=player, state__in=HOUSES_TURN).count() >= MOST_OPEN:
        raise TooManyOpen(
            _("%(number)d of your messages are waiting for an answer. Continue in one of them.") % {"number": MOST_OPEN}
        )
    conversation = Conversation.objects.create(
        player=player,
        topic=topic,
        round_id=about.id if about else None,
        round_code=about.code if about else "",
    )
    say(conversation, text, staff=None)
    if topic != Topic.COMPLAINT:
        record(conversation, "lodged", by=str(player), more={"round": str(about.id) if about else None})
    return conversation


@transaction.atomic
def approach(
    *, staff: Staff, player: Player, topic: Topic, text: str, template: ReplyTemplate | None = None
) -> Conversation:
    """Start a conversation by staff, and notify the player by mail. Raises NobodyReads.

    *template* is the reply template that the text is based on. *topic* is not a complaint, because
    only players complain.
    """
    if not player.user.is_active:
        raise NobodyReads(gettext("This account is closed. The player cannot log in to read messages."))
    conversation = lay_down(staff=staff, player=player, topic=topic, text=text, template=template)
    mail.write(user=player.user, template="service_message", context={"number": conversation.pk})
    return conversation


@transaction.atomic
def lay_down(
    *,
    staff: Staff,
    player: Player,
    topic: Topic,
    text: str,
    about: RoundNamed | None = None,
    template: ReplyTemplate | None = None,
) -> Conversation:
    """Add a conversation by staff to the player's list. The caller notifies the player."""
    conversation = Conversation.objects.create(
        player=player,
        topic=topic,
        round_id=about.id if about else None,
        round_code=about.code if about else "",
        state=ConversationState.ANSWERED,
        is_unread=True,
    )
    say(conversation, text, staff=staff)
    record(conversation, "begun", by=str(staff), more=_begun_from(template))
    return conversation


@transaction.atomic
def reply(*, player: Player, conversation_id: int, text: str) -> Conversation:
    """Add a message to the player's own conversation. Raises Conversation.DoesNotExist, Closed."""
    conversation = locked(Conversation.objects.filter(player=player), conversation_id)
    say(conversation, text, staff=None)
    move(conversation, _turn_of_house(conversation))
    record(conversation, "continued", by=str(player), more={})
    return conversation


@transaction.atomic
def close_own(*, player: Player, conversation_id: int) -> Conversation:
    """Close the player's own conversation. Raises Conversation.DoesNotExist, Closed, IsComplaint."""
    conversation = _no_complaint(locked(Conversation.objects.filter(player=player), conversation_id))
    move(conversation, ConversationState.CLOSED)
    record(conversation, "closed", by=str(player), more={"verdict": ""})
    return conversation


@transaction.atomic
def answer(
    *, staff: Staff, conversation_id: int, text: str, seen: int, template: ReplyTemplate | None = None
) -> Conversation:
    """Answer a player, and notify the player by mail.

    *seen* is the last message that the staff member has read. *template* is the reply template that
    the text is based on. Complaints assigned to a colleague may be answered too. Raises
    Conversation.DoesNotExist, Closed, NewMessageArrived.
    """
    conversation = read_up_to(locked(Conversation.objects.all(), conversation_id), seen)
    say(conversation, text, staff=staff)
    move(conversation, ConversationState.ANSWERED, is_unread=True)
    record(conversation, "answered", by=str(staff), more=_begun_from(template))
    mail.write(user=conversation.player.user, template="service_answer", context={"number": conversation.pk})
    return conversation


@transaction.atomic
def close(*, staff: Staff, conversation_id: int, seen: int) -> Conversation:
    """Close a conversation by staff, and notify the player by mail.

    *seen* is the last message that the staff member has read. Raises Conversation.DoesNotExist,
    Closed, IsComplaint, NewMessageArrived.
    """
    conversation = _no_complaint(read_up_to(locked(Conversation.objects.all(), conversation_id), seen))
    move(conversation, ConversationState.CLOSED, is_unread=True)
    record(conversation, "closed", by=str(staff), more={"verdict": ""})
    mail.write(user=conversation.player.user, template="service_closed", context={"number": conversation.pk})
    return conversation


def record_read(conversation: Conversation) -> None:
    """Record that the player has seen the messages of staff."""
    Conversation.objects.filter(pk=conversation.pk, is_unread=True).update(is_unread=False)


def unread(player: Player) -> int:
    """Return the number of conversations with messages of staff that the player has not seen."""
    return Conversation.objects.filter(player=player, is_unread=True).count()


def forget_old() -> int:
    """Delete the conversations past their retention period. Return how many there were.

    That of a complaint stays until it is decided: its last message may be older than the period.
    """
    old = Conversation.objects.filter(changed_at__lt=Now() - retention.period(RetainedData.CONVERSATION)).exclude(
        ~Q(state=ConversationState.CLOSED), topic=Topic.COMPLAINT
    )
    return sum(_forget(conversation_id) for conversation_id in list(old.values_list("pk", flat=True)))


@transaction.atomic
def _forget(conversation_id: int) -> int:
    conversation = Conversation.objects.select_for_update().filter(pk=conversation_id).first()
    if conversation is None:  # another worker was first
        return 0
    conversation.messages.all().delete()
    data: dict[str, log.Json] = {"conversation": conversation_id}
    log.record("service.forgotten", by="system", on=f"player:{conversation.player_id}", data=data)
    conversation.delete()
    return 1


def locked(among: QuerySet[Conversation], conversation_id: int) -> Conversation:
    """Return an open conversation, locked until the transaction ends.

    Raises Conversation.DoesNotExist, Closed.
    """
    conversation = (
        among.select_for_update(of=("self",))
        .select_related("player__user", "player__jurisdiction")
        .get(pk=conversation_id)
    )
    if conversation.state == ConversationState.CLOSED:
        raise Closed(_("This conversation is closed. Write a new message instead."))
    return conversation


def read_up_to(conversation: Conversation, seen: int) -> Conversation:
    """Return the conversation if nothing was written after the message *seen*. Raises NewMessageArrived."""
    if conversation.messages.filter(pk__gt=seen).exists():
        raise NewMessageArrived(gettext("Not sent: a new message has arrived. Read it and send again."))
    return conversation


def say(conversation: Conversation, text: str, *, staff: Staff | None) -> ServiceMessage:
    """Add a message of staff, or of the player if *staff* is None."""
    return ServiceMessage.objects.create(conversation=conversation, staff=staff, text=text)


def move(conversation: Conversation, state: ConversationState, *, is_unread: bool = False, **more: Any) -> None:
    """Set the state of a conversation, and the columns in *more*."""
    Conversation.objects.filter(pk=conversation.pk).update(state=state, is_unread=is_unread, changed_at=Now(), **more)
    conversation.refresh_from_db()


def record(conversation: Conversation, verb: str, *, by: str, more: Mapping[str, log.Json]) -> None:
    """Record a step of a conversation, without its text."""
    subject = "complaint" if conversation.topic == Topic.COMPLAINT else "service"
    data: dict[str, log.Json] = {"conversation": conversation.pk, "topic": str(conversation.topic)}
    log.record(f"{subject}.{verb}", by=by, on=f"player:{conversation.player_id}", data=data | dict(more))


def _turn_of_house(conversation: Conversation) -> ConversationState:
    """Return the state of a conversation that waits for staff; that of a complaint says whether it has an owner."""
    case = cases.of_conversation(conversation)
    if conversation.state == ConversationState.REOPENED or case is None:
        return ConversationState(conversation.state) if case else ConversationState.RECEIVED
    return ConversationState.IN_REVIEW if case.owner_id else ConversationState.RECEIVED


def _no_complaint(conversation: Conversation) -> Conversation:
    if conversation.topic == Topic.COMPLAINT:
        raise IsComplaint(gettext("A complaint can only be decided with a verdict and reasons."))
    return conversation


def _begun_from(template: ReplyTemplate | None) -> dict[str, log.Json]:
    """Return the event data for the template that a message is based on."""
    return {"template": f"{template}, version {template.number}"} if template else {}

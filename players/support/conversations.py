"""Customer service: players write, the house answers, either closes. Every step is on record, its words are not.

What is done with a complaint beside writing stands in `players.support.complaints`. Every message of an error is a
sentence in the active language.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from audit import log, retention
from audit.models import Kept
from players import mail
from players.models import (
    HOUSES_TURN,
    ComplaintStep,
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
MOST_OPEN = 10  # conversations of one player that wait for an answer


class ServiceError(Exception):
    """Nothing was written. The message is for the reader."""


class TooManyOpen(ServiceError):
    """The player has `MOST_OPEN` conversations without an answer."""


class Closed(ServiceError):
    """The conversation is closed."""


class WrittenMeanwhile(ServiceError):
    """Somebody has written since what whoever answers had read."""


class NobodyReads(ServiceError):
    """The player's account is closed."""


class IsComplaint(ServiceError):
    """A complaint ends as `players.support.complaints` has it, with a verdict."""


@dataclass(frozen=True)
class RoundNamed:
    """A finished round of the player's, as whoever calls has made sure."""

    id: UUID
    code: str


@transaction.atomic
def begin(*, player: Player, topic: Topic, text: str, about: RoundNamed | None = None) -> Conversation:
    """Write to the house. By when a complaint is decided is promised here, as the player's jurisdiction has it now.

    Raises TooManyOpen.
    """
    User.objects.select_for_update(no_key=True).get(pk=player.user_id)  # one after the other, or all count too few
    if Conversation.objects.filter(player=player, state__in=HOUSES_TURN).count() >= MOST_OPEN:
        raise TooManyOpen(
            _("%(number)d messages of yours wait for an answer. Write on in one of them.") % {"number": MOST_OPEN}
        )
    due = Now() + timedelta(days=player.jurisdiction.complaint_days) if topic == Topic.COMPLAINT else None
    conversation = Conversation.objects.create(
        player=player,
        topic=topic,
        round_id=about.id if about else None,
        round_code=about.code if about else "",
        due_at=due,
    )
    say(conversation, text, staff=None)
    record(conversation, "lodged", by=str(player), more={"round": str(about.id) if about else None})
    return conversation


@transaction.atomic
def approach(
    *, staff: Staff, player: Player, topic: Topic, text: str, template: ReplyTemplate | None = None
) -> Conversation:
    """Write to a player first, who is told so by mail and answers in the house; *template* is what the text was begun
    from. Raises NobodyReads.

    A complaint is the player's to make: *topic* is another one.
    """
    if not player.user.is_active:
        raise NobodyReads("This account is closed: nobody can log in to read a message.")
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
    """Put a message to a player among theirs; whoever calls tells them of it."""
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
    """Write on in one's own conversation. Raises Conversation.DoesNotExist, Closed."""
    conversation = locked(Conversation.objects.filter(player=player), conversation_id)
    say(conversation, text, staff=None)
    waits = ConversationState.LOOKING if conversation.assigned_to_id else ConversationState.RECEIVED
    move(conversation, ConversationState.REOPENED if conversation.state == ConversationState.REOPENED else waits)
    record(conversation, "continued", by=str(player), more={})
    return conversation


@transaction.atomic
def close_own(*, player: Player, conversation_id: int) -> Conversation:
    """End one's own conversation. Raises Conversation.DoesNotExist, Closed, IsComplaint."""
    conversation = _no_complaint(locked(Conversation.objects.filter(player=player), conversation_id))
    move(conversation, ConversationState.CLOSED)
    record(conversation, "closed", by=str(player), more={"verdict": ""})
    return conversation


@transaction.atomic
def answer(
    *, staff: Staff, conversation_id: int, text: str, seen: int, template: ReplyTemplate | None = None
) -> Conversation:
    """Answer a player who is told so by mail, having read up to the message *seen*; *template* is what the text was
    begun from. A complaint that is a colleague's may be answered all the same. Raises Conversation.DoesNotExist,
    Closed, WrittenMeanwhile.
    """
    conversation = read_up_to(locked(Conversation.objects.all(), conversation_id), seen)
    say(conversation, text, staff=staff)
    move(conversation, ConversationState.ANSWERED, is_unread=True)
    record(conversation, "answered", by=str(staff), more=_begun_from(template))
    mail.write(user=conversation.player.user, template="service_answer", context={"number": conversation.pk})
    return conversation


@transaction.atomic
def close(*, staff: Staff, conversation_id: int, seen: int) -> Conversation:
    """End a conversation, having read up to the message *seen*. The player is told by mail.

    Raises Conversation.DoesNotExist, Closed, IsComplaint, WrittenMeanwhile.
    """
    conversation = _no_complaint(read_up_to(locked(Conversation.objects.all(), conversation_id), seen))
    move(conversation, ConversationState.CLOSED, is_unread=True)
    record(conversation, "closed", by=str(staff), more={"verdict": ""})
    mail.write(user=conversation.player.user, template="service_closed", context={"number": conversation.pk})
    return conversation


def mark_seen(conversation: Conversation) -> None:
    """Note that the player has seen what the house said."""
    Conversation.objects.filter(pk=conversation.pk, is_unread=True).update(is_unread=False)


def unread(player: Player) -> int:
    """Return in how many conversations the house has said something the player has not seen."""
    return Conversation.objects.filter(player=player, is_unread=True).count()


def forget_old() -> int:
    """Delete the conversations whose last step is as old as they are kept, and return how many there were."""
    old = Conversation.objects.filter(moved_at__lt=Now() - retention.kept(Kept.CONVERSATION)).values_list(
        "pk", flat=True
    )
    return sum(_forget(conversation_id) for conversation_id in list(old))


@transaction.atomic
def _forget(conversation_id: int) -> int:
    conversation = Conversation.objects.select_for_update().filter(pk=conversation_id).first()
    if conversation is None:  # another worker was first
        return 0
    ComplaintStep.objects.filter(conversation=conversation).delete()
    conversation.messages.all().delete()
    data: dict[str, log.Json] = {"conversation": conversation_id}
    log.record("service.forgotten", by="system", on=f"player:{conversation.player_id}", data=data)
    conversation.delete()
    return 1


def locked(among: QuerySet[Conversation], conversation_id: int) -> Conversation:
    """Return an open conversation, locked until the transaction ends. Raises Conversation.DoesNotExist, Closed."""
    conversation = (
        among.select_for_update(of=("self",))
        .select_related("player__user", "player__jurisdiction")
        .get(pk=conversation_id)
    )
    if conversation.state == ConversationState.CLOSED:
        raise Closed(_("This conversation is closed. Write a new message instead."))
    return conversation


def read_up_to(conversation: Conversation, seen: int) -> Conversation:
    """Return it if nothing was written after the message *seen*. Raises WrittenMeanwhile."""
    if conversation.messages.filter(pk__gt=seen).exists():
        raise WrittenMeanwhile("Something was written here meanwhile. Nothing was sent: read it, and send again.")
    return conversation


def say(conversation: Conversation, text: str, *, staff: Staff | None) -> ServiceMessage:
    """Add what one side says."""
    return ServiceMessage.objects.create(conversation=conversation, staff=staff, text=text)


def move(conversation: Conversation, state: ConversationState, *, is_unread: bool = False, **more: Any) -> None:
    """Note whose turn it is from now on, and *more* of its columns."""
    Conversation.objects.filter(pk=conversation.pk).update(state=state, is_unread=is_unread, moved_at=Now(), **more)
    conversation.refresh_from_db()


def record(conversation: Conversation, verb: str, *, by: str, more: Mapping[str, log.Json]) -> None:
    """Put a step on record, without its words."""
    subject = "complaint" if conversation.topic == Topic.COMPLAINT else "service"
    data: dict[str, log.Json] = {"conversation": conversation.pk, "topic": str(conversation.topic)}
    log.record(f"{subject}.{verb}", by=by, on=f"player:{conversation.player_id}", data=data | dict(more))


def _no_complaint(conversation: Conversation) -> Conversation:
    if conversation.topic == Topic.COMPLAINT:
        raise IsComplaint("A complaint is decided, with a verdict and its reasons.")
    return conversation


def _begun_from(template: ReplyTemplate | None) -> dict[str, log.Json]:
    """Return what is on record of the template that a letter was begun from."""
    return {"template": f"{template}, version {template.number}"} if template else {}

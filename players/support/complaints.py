"""Complaints as cases: assignment, decision, withdrawal, reopening, deadline.

Each step locks the conversation and adds an event and a row of the timeline
(``players/sql/functions/support.sql``). Its text is a message of the conversation.

Error messages are sentences in the active language.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _

from audit import log
from players import mail
from players.mail import holders
from players.models import (
    DECIDED,
    HOUSES_TURN,
    CaseStep,
    ComplaintStep,
    Conversation,
    ConversationState,
    Player,
    ServiceMessage,
    Staff,
    Topic,
    Verdict,
)
from players.support.conversations import ServiceError, locked, move, read_up_to, record, say
from players.support.staff_replies import TURN_TO

ANSWER: Final = "players.answer_service"
DECIDE: Final = "players.decide_complaint"
SOON: Final = timedelta(days=2)  # a complaint due sooner is highlighted


class StateChanged(ServiceError):
    """Another staff member changed it first."""


class NoChange(ServiceError):
    """The complaint is already assigned to this person."""


class MayNotAnswer(ServiceError):
    """The new assignee may not answer players."""


class NotToReopen(ServiceError):
    """The complaint is open, or the period for reopening is over."""


@transaction.atomic
def assign(*, by: Staff, conversation_id: int, whose: int, to: int) -> Conversation:
    """Assign a complaint to a staff member, or to nobody.

    *to* is the number of the new assignee, 0 for nobody. *whose* is the assignee shown on the page
    that *by* used, 0 for nobody.

    Raises Conversation.DoesNotExist, Closed, `StateChanged`, NoChange, MayNotAnswer.
    """
    conversation = locked(_complaints(), conversation_id)
    if (conversation.assigned_to_id or 0) != whose:
        raise StateChanged(
            gettext("It is %(conversation)s now. Check the complaint and choose again.")
            % {"conversation": named(conversation)}
        )
    if to == whose:
        raise NoChange(gettext("The complaint is already assigned to this person."))
    if to and to not in answerers():
        raise MayNotAnswer(gettext("Choose a person who may answer players."))
    if to == 0:
        step, state = CaseStep.UNASSIGNED, _waits(conversation)
    else:
        step, state = CaseStep.TAKEN if to == by.pk else CaseStep.HANDED, ConversationState.IN_REVIEW
    if conversation.state not in HOUSES_TURN:
        state = ConversationState(conversation.state)
    move(conversation, state, is_unread=conversation.is_unread, assigned_to_id=to or None)
    _record_assignment(conversation, step, by=by, before=whose, to=to)
    return conversation


@transaction.atomic
def decide(*, by: Staff, conversation_id: int, verdict: Verdict, reasons: str, seen: int) -> Conversation:
    """Decide a complaint with a *verdict* and *reasons*, which the player reads.

    *seen* is the last message that the staff member has read. The complaint is assigned to the
    decider. The player is notified by mail, and may reopen the complaint within the period of the
    jurisdiction.

    Raises Conversation.DoesNotExist, Closed, NewMessageArrived.
    """
    conversation = read_up_to(locked(_complaints(), conversation_id), seen)
    message = say(conversation, reasons, staff=by)
    if conversation.assigned_to_id != by.pk:
        _record_assignment(conversation, CaseStep.TAKEN, by=by, before=conversation.assigned_to_id or 0, to=by.pk)
    until = Now() + timedelta(days=conversation.player.jurisdiction.reopen_days)
    _end(conversation, verdict, is_unread=True, reopen_until=until, assigned_to_id=by.pk)
    _enter(conversation, CaseStep.DECIDED, by=by, verdict=verdict, message=message)
    record(conversation, "decided", by=str(by), more={"verdict": verdict})
    mail.write(user=conversation.player.user, template="complaint_decided", context={"number": conversation.pk})
    return conversation


@transaction.atomic
def withdraw(*, player: Player, conversation_id: int) -> Conversation:
    """Withdraw the player's own complaint. Raises Conversation.DoesNotExist, Closed."""
    conversation = locked(_complaints().filter(player=player), conversation_id)
    _end(conversation, Verdict.BY_PLAYER)
    _enter(conversation, CaseStep.WITHDRAWN, verdict=Verdict.BY_PLAYER)
    record(conversation, "closed", by=str(player), more={"verdict": Verdict.BY_PLAYER})
    return conversation


@transaction.atomic
def reopen(*, player: Player, conversation_id: int, text: str) -> Conversation:
    """Reopen the player's own complaint, with the reason as a message. It is assigned to nobody.

    Raises Conversation.DoesNotExist, NotToReopen.
    """
    conversation = _ended(_complaints().filter(player=player), conversation_id)
    if not may_reopen(conversation):
        raise NotToReopen(_("This complaint cannot be reopened. Write a new message instead."))
    _reopen(conversation, say(conversation, text, staff=None), by=None, who=str(player))
    return conversation


@transaction.atomic
def reopen_by_house(*, by: Staff, conversation_id: int, text: str) -> Conversation:
    """Reopen a complaint by staff, whatever its verdict, with the reason as a message.

    The player is notified by mail. Raises Conversation.DoesNotExist, NotToReopen.
    """
    conversation = _ended(_complaints(), conversation_id)
    _reopen(conversation, say(conversation, text, staff=by), by=by, who=str(by), is_unread=True)
    mail.write(user=conversation.player.user, template="complaint_reopened", context={"number": conversation.pk})
    return conversation


def decided_before(conversation: Conversation, by: Staff) -> ComplaintStep | None:
    """Return the last decision of this staff member on the complaint, or None."""
    return conversation.steps.filter(step=CaseStep.DECIDED, by=by).order_by("pk").last()


def may_reopen(conversation: Conversation) -> bool:
    """Return whether the player may still reopen the complaint."""
    return Conversation.objects.filter(
        pk=conversation.pk, state=ConversationState.CLOSED, reopen_until__gt=Now()
    ).exists()


def is_overdue(conversation: Conversation) -> bool:
    """Return whether the complaint is open and past its deadline."""
    return overdue().filter(pk=conversation.pk).exists()


def undecided() -> QuerySet[Conversation]:
    """Return the open complaints."""
    return _complaints().exclude(state=ConversationState.CLOSED)


def overdue() -> QuerySet[Conversation]:
    """Return the complaints that are open and past their deadline."""
    return undecided().filter(due_at__lt=Now())


def notify_overdue() -> int:
    """Record each newly overdue complaint, once per deadline. Return the number.

    The events are alerts for staff who handle significant events.
    """
    late = overdue().exclude(Exists(_overdue_steps(OuterRef("pk"), OuterRef("due_at")))).order_by("due_at", "pk")
    return sum(_notify_overdue(number) for number in list(late.values_list("pk", flat=True)))


def answerers() -> dict[int, str]:
    """Return staff who may answer players: number -> name."""
    return {user.staff.pk: user.staff.name for user in holders(ANSWER)}


def named(conversation: Conversation) -> str:
    """Return the assignee of a complaint in words, for staff."""
    return (
        (gettext("assigned to %(name)s") % {"name": conversation.assigned_to.name})
        if conversation.assigned_to
        else gettext("unassigned")
    )


@transaction.atomic
def _notify_overdue(number: int) -> bool:
    conversation = overdue().select_for_update(of=("self",)).filter(pk=number).first()
    if conversation is None or conversation.due_at is None or _overdue_steps(number, conversation.due_at).exists():
        return False  # already decided, or another worker was first
    _enter(conversation, CaseStep.OVERDUE)
    record(conversation, "overdue", by="system", more={"due": conversation.due_at.isoformat()})
    return True


def _overdue_steps(number: int | OuterRef, due_at: datetime | OuterRef) -> QuerySet[ComplaintStep]:
    return ComplaintStep.objects.filter(conversation=number, step=CaseStep.OVERDUE, due_at=due_at)


def _complaints() -> QuerySet[Conversation]:
    return Conversation.objects.filter(topic=Topic.COMPLAINT)


def _ended(among: QuerySet[Conversation], conversation_id: int) -> Conversation:
    """Return a closed complaint, locked until the transaction ends. Raises NotToReopen."""
    conversation = (
        among.select_for_update(of=("self",))
        .select_related("player__user", "player__jurisdiction")
        .get(pk=conversation_id)
    )
    if conversation.state != ConversationState.CLOSED:
        raise NotToReopen(_("This complaint is already open."))
    return conversation


def _record_assignment(conversation: Conversation, step: CaseStep, *, by: Staff, before: int, to: int) -> None:
    """Record a change of the assignee: numbers of staff, 0 for nobody."""
    _enter(conversation, step, by=by, to=to or None)
    more: dict[str, log.Json] = {"before": _staff(before), "after": _staff(to)}
    record(conversation, "assigned", by=str(by), more=more)


def _end(conversation: Conversation, verdict: Verdict, **more: Any) -> None:
    move(conversation, ConversationState.CLOSED, verdict=verdict, ended_at=Now(), **more)


def _reopen(
    conversation: Conversation, message: ServiceMessage, *, by: Staff | None, who: str, is_unread: bool = False
) -> None:
    """Reopen a complaint: unassigned, with a new deadline."""
    due = Now() + timedelta(days=conversation.player.jurisdiction.complaint_days)
    before: dict[str, log.Json] = {"verdict": conversation.verdict}
    move(
        conversation,
        ConversationState.REOPENED,
        is_unread=is_unread,
        verdict="",
        ended_at=None,
        reopen_until=None,
        due_at=due,
        assigned_to=None,
    )
    _enter(conversation, CaseStep.REOPENED, by=by, message=message)
    record(conversation, "reopened", by=who, more=before)


def _enter(conversation: Conversation, step: CaseStep, *, to: int | None = None, **more: Any) -> None:
    values = {"due_at": conversation.due_at, "to_id": to, **more}
    ComplaintStep.objects.create(conversation=conversation, step=step, **values)


def _waits(conversation: Conversation) -> ConversationState:
    """Return the state of an unassigned open complaint."""
    was_closed = conversation.steps.filter(step=CaseStep.REOPENED).exists()
    return ConversationState.REOPENED if was_closed else ConversationState.RECEIVED


def _staff(number: int) -> str:
    return f"staff:{number}" if number else ""


# Roles by precedence: a staff member with several is named by the first one.
ROLES: Final = {
    "compliance": gettext_lazy("our compliance team"),
    "support": gettext_lazy("our customer service"),
    "operator": gettext_lazy("our game operations team"),
}


@dataclass(frozen=True)
class ComplaintStatus:
    """State of a complaint. *outside* is the dispute resolution body that the player may turn to now, or ""."""

    handled_by: str | Promise
    is_decided: bool
    is_late: bool
    reopen_until: datetime | None  # None: it is open, or cannot be reopened
    outside: str
    decisions: frozenset[int]  # ids of the messages that give the reasons of a decision


def complaint_status(conversation: Conversation) -> ComplaintStatus:
    """Return the state of a complaint for its player."""
    is_decided = conversation.verdict in DECIDED
    is_late = is_overdue(conversation)
    decisions = conversation.steps.filter(step=CaseStep.DECIDED).values_list("message", flat=True)
    is_open = conversation.state != ConversationState.CLOSED
    return ComplaintStatus(
        handled_by=role_of(conversation.assigned_to) if conversation.assigned_to and is_open else "",
        is_decided=is_decided,
        is_late=is_late,
        reopen_until=conversation.reopen_until if may_reopen(conversation) else None,
        outside=turn_to(conversation) if is_late else outside(conversation, conversation.verdict),
        decisions=frozenset(number for number in decisions if number),
    )


def outside(conversation: Conversation, verdict: str) -> str:
    """Return the dispute resolution body for a complaint that ended with *verdict*; "" if there is none."""
    return turn_to(conversation) if verdict in DECIDED and verdict != Verdict.UPHELD else ""


def turn_to(conversation: Conversation) -> str:
    """Return the dispute resolution body in the player's jurisdiction, or ""."""
    return TURN_TO.get(conversation.player.jurisdiction_id, "")


def role_of(staff: Staff) -> str | Promise:
    """Return the name of the staff member's role, which players read in place of a person's name."""
    held = set(staff.user.groups.values_list("name", flat=True))
    return next((title for role, title in ROLES.items() if role in held), ROLES["support"])

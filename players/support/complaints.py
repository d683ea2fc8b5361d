"""Complaints: a conversation that the player reads, and the case in which staff work on it.

The database opens the case, sets its deadline, and closes and reopens both together
(``players/sql/functions/cases.sql``). Reasons of a decision are a message of the conversation.

Error messages are sentences in the active language.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext as _

from players import cases, mail
from players.models import (
    DECIDED,
    Case,
    CaseAction,
    CaseEntry,
    CaseOutcome,
    Conversation,
    ConversationState,
    Player,
    Staff,
    Topic,
)
from players.support.conversations import ServiceError, locked, read_up_to
from players.support.staff_replies import TURN_TO

ANSWER: Final = "players.answer_service"
DECIDE: Final = "players.decide_complaint"
SOON: Final = timedelta(days=2)  # a case due sooner is highlighted
TURN_OWN: Final = "SELECT players_turn_own_complaint(%s, %s, %s)"


class NotToReopen(ServiceError):
    """The complaint is open, or the period for reopening is over."""


def case_of(conversation: Conversation) -> Case:
    """Return the case of a complaint. Raises Case.DoesNotExist."""
    case = cases.of_conversation(conversation)
    if case is None:
        raise Case.DoesNotExist
    return case


def conversation_of(case: Case) -> Conversation | None:
    """Return the conversation of a complaint's case, None after its retention period."""
    found = Conversation.objects.select_related("player__user", "player__jurisdiction")
    return found.filter(pk=int(case.subject.partition(":")[2])).first()


@transaction.atomic
def decide(*, by: Staff, conversation_id: int, verdict: CaseOutcome, reasons: str, seen: int) -> Conversation:
    """Decide a complaint with a *verdict* and *reasons*, which the player reads.

    *seen* is the last message that the staff member has read. The case is assigned to the decider. The player is
    notified by mail, and may reopen the complaint within the period of the jurisdiction.

    Raises Conversation.DoesNotExist, Closed, NewMessageArrived, CaseError.
    """
    conversation = read_up_to(locked(_complaints(), conversation_id), seen)
    cases.act(case=case_of(conversation), action=CaseAction.CLOSED, by=by, to=verdict.value, words=reasons)
    mail.write(user=conversation.player.user, template="complaint_decided", context={"number": conversation.pk})
    conversation.refresh_from_db()
    return conversation


@transaction.atomic
def withdraw(*, player: Player, conversation_id: int) -> Conversation:
    """Withdraw the player's own complaint. Raises Conversation.DoesNotExist, Closed."""
    conversation = locked(_complaints().filter(player=player), conversation_id)
    cases.call(TURN_OWN, case_of(conversation).pk, CaseAction.CLOSED.value, "")
    conversation.refresh_from_db()
    return conversation


def reopen(*, player: Player, conversation_id: int, text: str) -> Conversation:
    """Reopen the player's own complaint, with the reason as a message. It has no owner then.

    Raises Conversation.DoesNotExist, NotToReopen.
    """
    conversation = _complaints().select_related("player").get(pk=conversation_id, player=player)
    try:
        cases.call(TURN_OWN, case_of(conversation).pk, CaseAction.REOPENED.value, text)
    except cases.AlreadyDone as error:
        if conversation.state == ConversationState.CLOSED:
            raise NotToReopen(_("This complaint cannot be reopened. Write a new message instead.")) from error
        raise NotToReopen(_("This complaint is already open.")) from error
    conversation.refresh_from_db()
    return conversation


@transaction.atomic
def reopen_by_house(*, by: Staff, case: Case, text: str) -> None:
    """Reopen a complaint by staff, whatever its outcome, with the reason as a message.

    The player is notified by mail. Raises CaseError.
    """
    conversation = conversation_of(case)
    if conversation is None:
        raise cases.AlreadyDone(gettext("This complaint has been deleted after its retention period."))
    cases.act(case=case, action=CaseAction.REOPENED, by=by, words=text)
    mail.write(user=case.player.user, template="complaint_reopened", context={"number": conversation.pk})


def decided_before(case: Case, by: Staff) -> CaseEntry | None:
    """Return the last decision of this staff member on the complaint, or None."""
    return case.entries.filter(action=CaseAction.CLOSED, by=str(by)).order_by("pk").last()


def may_reopen(conversation: Conversation) -> bool:
    """Return whether the player may still reopen the complaint."""
    return Conversation.objects.filter(
        pk=conversation.pk, state=ConversationState.CLOSED, reopen_until__gt=Now()
    ).exists()


def is_overdue(case: Case) -> bool:
    """Return whether the case is open and past its deadline."""
    return Case.objects.filter(pk=case.pk, closed_at=None, due_at__lt=Now()).exists()


# Roles by precedence: a staff member with several is named by the first one.
ROLES: Final = {
    "compliance": gettext_lazy("our compliance team"),
    "support": gettext_lazy("our customer service"),
    "operator": gettext_lazy("our game operations team"),
}


# Decisions as the player reads them. Staff read the labels of `CaseOutcome`.
TO_THE_PLAYER: Final = {
    CaseOutcome.UPHELD: pgettext_lazy("to the player", "Complaint upheld"),
    CaseOutcome.PARTLY: pgettext_lazy("to the player", "Complaint partly upheld"),
    CaseOutcome.REJECTED: pgettext_lazy("to the player", "Complaint not upheld"),
}


@dataclass(frozen=True)
class ComplaintStatus:
    """State of a complaint. *outside* is the dispute resolution body that the player may turn to now, or ""."""

    case: Case
    handled_by: str | Promise
    outcome: str | Promise
    is_decided: bool
    is_late: bool
    reopen_until: datetime | None  # None: it is open, or cannot be reopened
    outside: str
    decisions: frozenset[datetime]  # times of the messages that give the reasons of a decision


def complaint_status(conversation: Conversation) -> ComplaintStatus:
    """Return the state of a complaint for its player."""
    case = case_of(conversation)
    is_late = is_overdue(case)
    return ComplaintStatus(
        case=case,
        handled_by=role_of(case.owner) if case.owner and not case.closed_at else "",
        outcome=TO_THE_PLAYER.get(CaseOutcome(case.outcome), case.get_outcome_display()) if case.outcome else "",
        is_decided=case.outcome in DECIDED,
        is_late=is_late,
        reopen_until=conversation.reopen_until if may_reopen(conversation) else None,
        outside=turn_to(case.player) if is_late else outside(case.player, case.outcome),
        decisions=decisions(case),
    )


def decisions(case: Case) -> frozenset[datetime]:
    """Return the times of a complaint's messages that give the reasons of a decision."""
    entries = case.entries.filter(action=CaseAction.CLOSED, to__in=DECIDED)
    return frozenset(entries.values_list("at", flat=True))


def outside(player: Player, outcome: str) -> str:
    """Return the dispute resolution body for a complaint that ended with *outcome*; "" if there is none."""
    return turn_to(player) if outcome in DECIDED and outcome != CaseOutcome.UPHELD else ""


def turn_to(player: Player) -> str:
    """Return the dispute resolution body in the player's jurisdiction, or ""."""
    return TURN_TO.get(player.jurisdiction_id, "")


def role_of(staff: Staff) -> str | Promise:
    """Return the name of the staff member's role, which players read in place of a person's name."""
    held = set(staff.user.groups.values_list("name", flat=True))
    return next((title for role, title in ROLES.items() if role in held), ROLES["support"])


def _complaints() -> QuerySet[Conversation]:
    return Conversation.objects.filter(topic=Topic.COMPLAINT)

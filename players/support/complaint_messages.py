"""State of a complaint as its player reads it: progress, role in charge, and dispute resolution bodies."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from players.models import DECIDED, CaseStep, Conversation, ConversationState, Staff, Verdict
from players.support import complaints
from players.support.replies.filling import TURN_TO

# Roles by precedence: a staff member with several is named by the first one.
ROLES: Final = {
    "compliance": _("our compliance team"),
    "support": _("our customer service"),
    "operator": _("our game operations team"),
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
    is_late = complaints.is_late(conversation)
    decisions = conversation.steps.filter(step=CaseStep.DECIDED).values_list("message", flat=True)
    is_open = conversation.state != ConversationState.CLOSED
    return ComplaintStatus(
        handled_by=role_of(conversation.assigned_to) if conversation.assigned_to and is_open else "",
        is_decided=is_decided,
        is_late=is_late,
        reopen_until=conversation.reopen_until if complaints.may_reopen(conversation) else None,
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
    return next((words for role, words in ROLES.items() if role in held), ROLES["support"])

"""What a player reads of their complaint: how it stands, who looks into it, and where to turn to beside the house."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from players.models import DECIDED, CaseStep, Conversation, ConversationState, Staff, Verdict
from players.support import complaints
from players.support.replies.help_places import TURN_TO

# Roles in the order in which somebody who has several is named.
ROLES: Final = {
    "compliance": _("our compliance team"),
    "support": _("our customer service"),
    "operator": _("our game operations"),
}


@dataclass(frozen=True)
class Standing:
    """How a complaint stands. *outside* is where the player may turn to by now, "" where that is nowhere."""

    looked_into_by: str | Promise
    is_decided: bool
    is_late: bool
    reopen_until: datetime | None  # None: it is open, or stays closed
    outside: str
    decisions: frozenset[int]  # the messages that are reasons of a decision


def standing(conversation: Conversation) -> Standing:
    """Return how a complaint stands for its player."""
    is_decided = conversation.verdict in DECIDED
    is_late = complaints.is_late(conversation)
    decisions = conversation.steps.filter(step=CaseStep.DECIDED).values_list("message", flat=True)
    is_open = conversation.state != ConversationState.CLOSED
    return Standing(
        looked_into_by=role_of(conversation.assigned_to) if conversation.assigned_to and is_open else "",
        is_decided=is_decided,
        is_late=is_late,
        reopen_until=conversation.reopen_until if complaints.may_reopen(conversation) else None,
        outside=turn_to(conversation) if is_late else outside(conversation, conversation.verdict),
        decisions=frozenset(number for number in decisions if number),
    )


def outside(conversation: Conversation, verdict: str) -> str:
    """Return where its player may turn to once it has ended with a *verdict*; "" where that is nowhere."""
    return turn_to(conversation) if verdict in DECIDED and verdict != Verdict.UPHELD else ""


def turn_to(conversation: Conversation) -> str:
    """Return what stands for complaints outside the house where its player lives, "" where nothing is named."""
    return TURN_TO.get(conversation.player.jurisdiction_id, "")


def role_of(staff: Staff) -> str | Promise:
    """Return what a player reads in place of a name."""
    held = set(staff.user.groups.values_list("name", flat=True))
    return next((words for role, words in ROLES.items() if role in held), ROLES["support"])

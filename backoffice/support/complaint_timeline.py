"""What was done with a complaint, step by step, as staff read it: what was written, and the steps beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from players.models import CaseStep, ComplaintStep, Conversation, Verdict


@dataclass(frozen=True)
class Moment:
    """Something that was done: when, what, and by whom."""

    at: datetime
    what: str
    who: str


def timeline(conversation: Conversation) -> list[Moment]:
    """Return it from the first word on."""
    return sorted([*_written(conversation), *_done(conversation)], key=attrgetter("at"))


def _written(conversation: Conversation) -> Iterator[Moment]:
    """Yield what was written and is no step by itself."""
    of_steps = conversation.steps.exclude(message=None).values("message")
    first = True
    for message in conversation.messages.select_related("staff").exclude(pk__in=of_steps).order_by("pk"):
        by_player = "Received" if first else "The player wrote"
        who = message.staff.name if message.staff else str(conversation.player)
        yield Moment(message.at, "Answered" if message.staff else by_player, who)
        first = False


def _done(conversation: Conversation) -> Iterator[Moment]:
    for step in conversation.steps.select_related("by", "to").order_by("pk"):
        yield Moment(step.at, _said(step), _who(step, str(conversation.player)))


def _said(step: ComplaintStep) -> str:
    what = CaseStep(step.step).label
    match step.step:
        case CaseStep.HANDED if step.to:
            return f"{what} to {step.to.name}"
        case CaseStep.DECIDED:
            return f"{what}: {Verdict(step.verdict).label}"
        case CaseStep.REOPENED:
            return f"{what}, due {step.due_at:%Y-%m-%d %H:%M} UTC"
    return what


def _who(step: ComplaintStep, player: str) -> str:
    if step.by:
        return step.by.name
    return "the house" if step.step == CaseStep.OVERDUE else player

"""Handling of significant events: each step adds an event and a row
(``audit/sql/functions/significant.sql``). Steps are undone only by another step.

Comments are stored with the step and not in the event, because they may be about a person.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from audit import log
from audit.models import Category, Event, Muted, Significant, SignificantStep, Step, Weight, Work

PERMISSION: Final = "audit.handle_significant"
KINDS: Final = tuple(f"significant.{step.value}" for step in Step)
MUTED: Final = "significant.muted"
LONGEST: Final = 4000  # characters of a comment
MOST_COUNTED: Final = 1000

FROM: Final = {
    Step.ACKNOWLEDGED: (Work.NEW,),
    Step.COMMENTED: (Work.NEW, Work.SEEN, Work.CLOSED),
    Step.ASSIGNED: (Work.NEW, Work.SEEN),
    Step.CLOSED: (Work.NEW, Work.SEEN),
    Step.REOPENED: (Work.CLOSED,),
}
INTO: Final = {Step.ACKNOWLEDGED: Work.SEEN, Step.CLOSED: Work.CLOSED, Step.REOPENED: Work.SEEN}
UNSAID: Final = {
    Step.COMMENTED: gettext_lazy("Enter a comment."),
    Step.CLOSED: gettext_lazy("Enter a comment on the outcome before you close the event."),
    Step.REOPENED: gettext_lazy("Enter a reason for reopening the event."),
}


class WorkError(Exception):
    """A step was not taken; the message tells staff why."""


class StateChanged(WorkError):
    """Another person changed the event first."""


@dataclass(frozen=True)
class Acknowledged:
    """Result of acknowledging several events: how many were new, and how many were not."""

    done: int
    already: int


@transaction.atomic
def take(
    *, significant_id: int, step: Step, seen: Work, assigned: str, by: str, text: str = "", to: str = ""
) -> SignificantStep:
    """Take a step on a significant event and return it. *seen* and *assigned* are the state and the
    assignee that *by* saw; *to* is the new assignee, empty for none.

    Closing needs no comment if *by* has commented since the event was opened.

    Raises `StateChanged` where the state or the assignee has changed, WorkError where a comment is
    missing or nothing would change, and Significant.DoesNotExist.
    """
    found = Significant.objects.select_for_update().get(pk=significant_id)
    if found.state != seen or found.assigned_to != assigned:
        last = found.steps.order_by("-pk").first()
        raise StateChanged(
            gettext("%(value)s has changed this event. Check the current state and try again.")
            % {"value": last.by if last else gettext("Another person")}
        )
    if found.state not in FROM[step]:
        raise WorkError(gettext("The event is %(label)s.") % {"label": Work(found.state).label})
    if step in UNSAID and not text.strip() and not (step is Step.CLOSED and _has_said(found, by)):
        raise WorkError(UNSAID[step])
    if step is Step.ASSIGNED and to == found.assigned_to:
        raise WorkError(gettext("The event is already assigned to this person."))
    _enter(found, step, by=by, text=text, to=to)
    return found.steps.latest("pk")


@transaction.atomic
def acknowledge(*, significant_ids: Collection[int], by: str, text: str = "") -> Acknowledged:
    """Acknowledge the new ones of these events; *text* is an optional comment stored with each
    step. Others are left as they are.
    """
    chosen = list(Significant.objects.select_for_update().filter(pk__in=significant_ids).order_by("pk"))
    new = [each for each in chosen if each.state == Work.NEW]
    for each in new:
        _enter(each, Step.ACKNOWLEDGED, by=by, text=text)
    return Acknowledged(len(new), len(chosen) - len(new))


def close_set_up(significant_id: int, text: str) -> None:
    """Close a significant event that belongs to the set-up of the house, as the system."""
    _enter(Significant.objects.get(pk=significant_id), Step.CLOSED, by="system", text=text)


def waiting() -> int:
    """Return how many are not acknowledged, counted up to `MOST_COUNTED`."""
    return Significant.objects.filter(state=Work.NEW)[:MOST_COUNTED].count()


def matching(
    *,
    states: Collection[Work] = tuple(Work),
    category: Category | None = None,
    weight: Weight | None = None,
    assigned: str = "",
    about: str = "",
    currency: str = "",
) -> QuerySet[Significant]:
    """Return significant events, newest first; *about* is the subject of the finding or of its event."""
    found = Significant.objects.filter(state__in=states).order_by("-pk")
    exact = {"category": category, "weight": weight, "assigned_to": assigned, "currency": currency}
    found = found.filter(**{name: value for name, value in exact.items() if value})
    if about:
        found = found.filter(Q(on=about) | Q(event__in=Event.objects.filter(on=about)))
    return found


def muted(who: str) -> set[Category]:
    """Return the categories that *who* gets no mail about."""
    return {Category(each) for each in Muted.objects.filter(who=who).values_list("category", flat=True)}


@transaction.atomic
def mute(*, who: str, categories: Collection[Category]) -> None:
    """Mute exactly these *categories* for *who* and record the change. Nothing is recorded if nothing changes."""
    before = muted(who)
    if before == set(categories):
        return
    Muted.objects.filter(who=who).delete()
    Muted.objects.bulk_create([Muted(who=who, category=each) for each in categories], ignore_conflicts=True)
    data: dict[str, log.Json] = {"before": sorted(before), "after": sorted(categories)}
    log.record(MUTED, by=who, on=who, data=data)


def _has_said(found: Significant, by: str) -> bool:
    """Return whether *by* has commented since the event was last opened."""
    opened = found.steps.filter(step=Step.REOPENED).order_by("pk").last()
    said = found.steps.filter(step=Step.COMMENTED, by=by, pk__gt=opened.pk if opened else 0)
    return said.exists()


def _enter(found: Significant, step: Step, *, by: str, text: str = "", to: str = "") -> None:
    state = INTO.get(step, Work(found.state))
    assignee = to if step is Step.ASSIGNED else found.assigned_to
    data: dict[str, log.Json] = {"key": found.key, "before": found.state, "after": state.value, "to": assignee}
    log.record(f"significant.{step.value}", by=by, on=f"significant:{found.pk}", data=data)
    SignificantStep.objects.create(significant=found, step=step, by=by, to=to, text=text.strip())
    Significant.objects.filter(pk=found.pk).update(state=state, assigned_to=assignee)

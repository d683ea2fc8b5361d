"""Notices to everybody that the house will be worked on: publishing and withdrawing them, and the words to begin with.

Whether one is in force the database's clock decides; ``accounts/banner.py`` shows those that are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction

from audit import log
from audit.models import Clock
from players import notify
from players.datetime_format import written_span
from players.models import Notice, Staff
from players.protection import exclusions

PUBLISH: Final = "players.publish_notices"
LANGUAGES: Final = ("en", "sv", "da", "ro", "de")  # English first: staff read it
WHEN: Final = "{when}"  # for which each reader gets the times of the work
LONGEST: Final = 300  # characters of one language
TEXTS: Final = Path(__file__).parent / "texts"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class State(StrEnum):
    """What a notice is at a moment; the value is what staff read."""

    IN_FORCE = "shown now"
    COMING = "coming"
    OVER = "over"
    WITHDRAWN = "withdrawn"


class Refused(Exception):
    """The database took no such notice, or it is not to be withdrawn any more. The message is for staff."""


@dataclass(frozen=True)
class Planned:
    """A notice as it is asked for; all times are UTC."""

    begins_at: datetime
    ends_at: datetime
    shown_from: datetime
    shown_until: datetime
    texts: Mapping[str, str]


def shipped() -> dict[str, str]:
    """Return the words that a notice begins with, in each language."""
    return {each: (TEXTS / f"notice.{each}.md").read_text(encoding="utf-8").strip() for each in LANGUAGES}


def span(notice: Planned | Notice, language: str, zone: str) -> str:
    """Write when the house is worked on for somebody whose clocks stand in *zone*."""
    there = ZoneInfo(zone)
    return written_span(notice.begins_at.astimezone(there), notice.ends_at.astimezone(there), language)


def words(notice: Planned | Notice, language: str, zone: str) -> str:
    """Return what a notice says in *language* to somebody whose clocks stand in *zone*."""
    text: str = notice.texts[language]
    return text.replace(WHEN, span(notice, language, zone))


def fault(text: str) -> str:
    """Return what is wrong with the words of one language, for staff; nothing where they may be published."""
    if len(text) > LONGEST:
        return f"It has {len(text)} characters; {LONGEST} fit."
    if _CONTROL.search(text):
        return "It stands in one line, without breaks."
    if WHEN not in text:
        return f"It does not say when: readers get the times where {WHEN} stands."
    return ""


@transaction.atomic
def publish(planned: Planned, *, by: Staff) -> Notice:
    """Publish a notice, and tell every page that is open. Raises Refused."""
    try:
        with transaction.atomic():
            made = Notice.objects.create(**vars(planned), by=by)
    except IntegrityError as error:
        raise Refused(
            "Another notice speaks of that time already, and is withdrawn first; or this one is over by now. "
            "Nothing was published."
        ) from error
    log.record(
        "notice.published",
        by=str(by),
        on=str(made),
        data={
            name: getattr(planned, name).isoformat() for name in ("begins_at", "ends_at", "shown_from", "shown_until")
        }
        | {"texts": dict(planned.texts)},
    )
    notify.tell_everybody(made.pk)
    return made


@transaction.atomic
def withdraw(*, notice_id: int, reason: str, by: Staff) -> Notice:
    """Show a notice no more, on any page. Raises Refused, Notice.DoesNotExist."""
    notice = Notice.objects.select_for_update(of=("self",)).get(pk=notice_id)
    if (state := state_of(notice, exclusions.now())) in (State.WITHDRAWN, State.OVER):
        raise Refused(f"It is {state} already.")
    Notice.objects.filter(pk=notice_id).update(withdrawn_at=Clock(), withdrawn_by=by, reason=reason)
    log.record("notice.withdrawn", by=str(by), on=str(notice), data={"was": state.value, "reason": reason})
    notify.tell_everybody(notice.pk)
    notice.refresh_from_db()
    return notice


def every() -> list[tuple[State, Notice]]:
    """Return all notices with what each is at this moment: those in force first, then by when they were published,
    newest first.
    """
    now = exclusions.now()
    found = Notice.objects.select_related("by", "withdrawn_by").order_by("-pk")
    return sorted(((state_of(each, now), each) for each in found), key=lambda pair: list(State).index(pair[0]))


def state_of(notice: Notice, now: datetime) -> State:
    """Return what a notice is at that moment."""
    if notice.withdrawn_at is not None:
        return State.WITHDRAWN
    if notice.shown_until <= now:
        return State.OVER
    return State.IN_FORCE if notice.shown_from <= now else State.COMING

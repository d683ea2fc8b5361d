"""Maintenance notices to all visitors: publish, withdraw, and default texts.

The database's clock decides which notices are in force; ``accounts/banner.py`` shows them.
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
from django.utils.translation import gettext

from audit import log
from audit.models import Clock
from players import notify
from players.datetime_format import written_span
from players.models import Notice, Staff
from players.protection import exclusions

PUBLISH: Final = "players.publish_notices"
LANGUAGES: Final = ("en", "sv", "da", "ro", "de")  # English first: staff read it
WHEN: Final = "{when}"  # replaced by the times of the work, for each reader
LONGEST: Final = 300  # characters per language
TEXTS: Final = Path(__file__).parent / "texts"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class State(StrEnum):
    """State of a notice at a given time. The value is the label for staff, in English."""

    IN_FORCE = "shown now"
    COMING = "coming"
    OVER = "over"
    WITHDRAWN = "withdrawn"


class Refused(Exception):
    """The notice is refused, or can no longer be withdrawn. The message is for staff."""


@dataclass(frozen=True)
class Planned:
    """A notice as requested. All times are UTC."""

    begins_at: datetime
    ends_at: datetime
    shown_from: datetime
    shown_until: datetime
    texts: Mapping[str, str]


def shipped() -> dict[str, str]:
    """Return the default text of a notice in each language."""
    return {each: (TEXTS / f"notice.{each}.md").read_text(encoding="utf-8").strip() for each in LANGUAGES}


def span(notice: Planned | Notice, language: str, zone: str) -> str:
    """Format the period of the work in the time zone *zone*."""
    there = ZoneInfo(zone)
    return written_span(notice.begins_at.astimezone(there), notice.ends_at.astimezone(there), language)


def notice_text(notice: Planned | Notice, language: str, zone: str) -> str:
    """Return the text of a notice in *language*, with times in *zone*."""
    text: str = notice.texts[language]
    return text.replace(WHEN, span(notice, language, zone))


def fault(text: str) -> str:
    """Return the error in the text of one language, for staff; "" if it may be published."""
    if len(text) > LONGEST:
        return gettext("The text has %(text)s characters. The maximum is %(longest)s.") % {
            "text": len(text),
            "longest": LONGEST,
        }
    if _CONTROL.search(text):
        return gettext("The text must be on one line, without line breaks.")
    if WHEN not in text:
        return gettext("The time is missing. Insert it with the placeholder %(when)s.") % {"when": WHEN}
    return ""


@transaction.atomic
def publish(planned: Planned, *, by: Staff) -> Notice:
    """Publish a notice and notify all open pages. Raises Refused."""
    try:
        with transaction.atomic():
            made = Notice.objects.create(**vars(planned), by=by)
    except IntegrityError as error:
        raise Refused(
            gettext(
                "Another notice covers this time and must be withdrawn first, or this notice has already "
                "ended. Nothing was published."
            )
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
    notify.notify_everybody(made.pk)
    return made


@transaction.atomic
def withdraw(*, notice_id: int, reason: str, by: Staff) -> Notice:
    """Withdraw a notice from all pages. Raises Refused, Notice.DoesNotExist."""
    notice = Notice.objects.select_for_update(of=("self",)).get(pk=notice_id)
    if (state := state_of(notice, exclusions.now())) in (State.WITHDRAWN, State.OVER):
        raise Refused(gettext("This notice is already %(state)s.") % {"state": gettext(state.value)})
    Notice.objects.filter(pk=notice_id).update(withdrawn_at=Clock(), withdrawn_by=by, reason=reason)
    log.record("notice.withdrawn", by=str(by), on=str(notice), data={"was": state.value, "reason": reason})
    notify.notify_everybody(notice.pk)
    notice.refresh_from_db()
    return notice


def every() -> list[tuple[State, Notice]]:
    """Return all notices with their states: those in force first, then the newest first within each state."""
    now = exclusions.now()
    found = Notice.objects.select_related("by", "withdrawn_by").order_by("-pk")
    return sorted(((state_of(each, now), each) for each in found), key=lambda pair: list(State).index(pair[0]))


def state_of(notice: Notice, now: datetime) -> State:
    """Return the state of a notice at that time."""
    if notice.withdrawn_at is not None:
        return State.WITHDRAWN
    if notice.shown_until <= now:
        return State.OVER
    return State.IN_FORCE if notice.shown_from <= now else State.COMING

"""Markers of harm: definitions, detection, and cases opened for staff.

A marker has no effect on the player, and the player is not notified. Staff decide what to do. Each
app defines the markers that its own tables show; `accounts.tasks` searches for all of
them. Rows from before a case was closed no longer count for its marker.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext

from audit import log
from players import cases
from players.models import Case, CaseKind, Contact, ContactWay, Marker, Sighting, Staff, User

Figure = timedelta | int | str
Row = Mapping[str, Any]

# Players to examine, and the time from which their rows count.
WHO = """
WITH who AS MATERIALIZED (
    SELECT p.id AS player_id, p.currency::text, j.time_zone::text, j.contact_above_month, greatest(
        %(seen)s::timestamptz - %(reach)s::interval,
        (SELECT max(f.closed_at) FROM players_case AS f
         WHERE f.player_id = p.id AND f.kind = 'marker' AND f.subject = %(marker)s::text)
    ) AS since
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = ANY(%(players)s::bigint[])
)
"""

# Follows a CTE `happened (player_id, at, window_time, items)`. Finds the time window with the most rows, if these reach
# the threshold. Windows are measured by *window_time*. *items* are the source rows, as a JSON list.
MOST_WITHIN = """
, counted AS (
    SELECT h.player_id, h.window_time, count(*) OVER (
        PARTITION BY h.player_id ORDER BY h.window_time
        RANGE BETWEEN %(within)s::interval PRECEDING AND CURRENT ROW) AS degree
    FROM happened AS h
), worst AS (
    SELECT DISTINCT ON (c.player_id) c.player_id, c.window_time, c.degree FROM counted AS c
    WHERE c.degree >= %(least)s::bigint ORDER BY c.player_id, c.degree DESC, c.window_time DESC
), found AS (
    SELECT w.player_id, min(h.at) AS began, max(h.at) AS ended, w.degree,
        jsonb_agg(DISTINCT item.line) AS rows
    FROM worst AS w JOIN happened AS h ON h.player_id = w.player_id
        AND h.window_time BETWEEN w.window_time - %(within)s::interval AND w.window_time,
        jsonb_array_elements(h.items) AS item (line)
    GROUP BY w.player_id, w.degree
)
"""
FOUND = """
SELECT f.player_id, who.currency, who.time_zone, f.began, f.ended, f.degree, f.rows
FROM found AS f JOIN who ON who.player_id = f.player_id ORDER BY f.player_id
"""

ACTIVE = """
SELECT DISTINCT substr(name, 8)::bigint AS player_id
FROM audit_event AS e, unnest(ARRAY[e.by, e.on]) AS name
WHERE e.id > %s::bigint AND e.kind !~ '^marker[.]' AND name ~ '^player:[0-9]{1,18}$' ORDER BY player_id
"""


@dataclass(frozen=True)
class Found:
    """A marker found for one player: rows from *began* to *ended*, amounts in minor units of *currency*."""

    player_id: int
    currency: str
    time_zone: str
    began: datetime
    ended: datetime
    degree: int  # the number that the marker counts: higher is worse
    rows: Sequence[Row]

    def of(self, table: str) -> list[Row]:
        """Return the rows of one table."""
        return [row for row in self.rows if row["table"] == table]

    def local(self, moment: datetime) -> str:
        """Format a time in the player's time zone."""
        return f"{moment.astimezone(ZoneInfo(self.time_zone)):%Y-%m-%d %H:%M}"


@dataclass(frozen=True)
class Definition:
    """The definition of a marker: SQL statement, thresholds, and the sentence for staff.

    *statement* follows `WHO` and ends in a CTE ``found (player_id, began, ended, degree, rows)``.
    Rows count from *reach* before the last scan.
    """

    marker: Marker
    reach: timedelta
    figures: Mapping[str, Figure]
    statement: str
    say: Callable[[Found], str]


def active_since(event_id: int) -> list[int]:
    """Return the players with events after that event."""
    with connection.cursor() as cursor:
        cursor.execute(ACTIVE, [event_id])
        return [player_id for (player_id,) in cursor]


def find(definition: Definition, *, players: Sequence[int], seen: datetime) -> list[Found]:
    """Return the findings for these players since *reach* before *seen*, the time of the last scan."""
    values: dict[str, str | int | datetime | list[int]] = {
        name: f"{figure.total_seconds()} seconds" if isinstance(figure, timedelta) else figure
        for name, figure in {**definition.figures, "reach": definition.reach}.items()
    }
    values |= {"players": list(players), "seen": seen, "marker": definition.marker.value}
    with connection.cursor() as cursor:
        cursor.execute(WHO + definition.statement + FOUND, values)
        return [
            Found(player_id, currency, time_zone, began, ended, degree, _in_order(rows))
            for player_id, currency, time_zone, began, ended, degree, rows in cursor
        ]


@transaction.atomic
def raise_flag(definition: Definition, found: Found) -> bool:
    """Open a case for a marker or add to the open one.

    Return False if the open case already shows the same or a higher degree.
    """
    marker = definition.marker.value
    number = cases.open_case(found.player_id, CaseKind.MARKER, subject=marker)
    is_new = number is not None
    _lock(found.player_id)
    same = Case.objects.filter(player=found.player_id, kind=CaseKind.MARKER, subject=marker)
    case = same.filter(closed_at=None).first()
    last = Sighting.objects.filter(case=case).order_by("-id").first() if case else None
    if case is None or (last is not None and found.degree <= last.degree):
        return False
    Sighting.objects.create(
        case=case,
        began=found.began,
        ended=found.ended,
        degree=found.degree,
        message=definition.say(found),
        rows=list(found.rows),
    )
    log.record(
        "marker.flagged" if is_new else "marker.worsened",
        by="system",
        on=f"player:{found.player_id}",
        data={
            "case": case.pk,
            "marker": marker,
            "degree": found.degree,
            "began": found.began.isoformat(),
            "ended": found.ended.isoformat(),
            "rows": len(found.rows),
        },
    )
    return True


def _in_order(rows: str) -> list[Row]:
    """Return the rows in order of time."""
    return sorted(json.loads(rows), key=lambda row: (datetime.fromisoformat(row["at"]), row["table"], str(row["id"])))


class NotYet(cases.CaseError):
    """The time of the contact is in the future, or the next review is before the contact."""


@transaction.atomic
def record_contact(
    *, case_id: int, made_at: datetime, way: ContactWay, said: str, next_review: date | None, by: Staff
) -> Contact:
    """Record how staff contacted the player because of a marker, what was said, and the date of the next review.

    Raises Case.DoesNotExist, cases.AlreadyDone if it is closed, NotYet.
    """
    case = Case.objects.filter(kind=CaseKind.MARKER).select_related("player").get(pk=case_id)
    if case.closed_at is not None:
        raise cases.AlreadyDone(gettext("This case is closed."))
    if not Case.objects.filter(pk=case.pk).annotate(now=Now()).filter(now__gte=made_at).exists():
        raise NotYet(gettext("The time of the contact is in the future."))
    if next_review is not None and next_review < made_at.date():
        raise NotYet(gettext("The follow-up date is before the contact."))
    contact = Contact.objects.create(case=case, staff=by, made_at=made_at, way=way, said=said, next_review=next_review)
    data: dict[str, log.Json] = {
        "case": case.pk,
        "contact": contact.pk,
        "way": way.value,
        "made_at": made_at.isoformat(),
        "next_look": next_review.isoformat() if next_review else None,
    }
    log.record("marker.contact", by=str(by), on=str(case.player), data=data)
    return contact


def _lock(player_id: int) -> None:
    """Lock the player, so that two searches at once add one sighting."""
    User.objects.select_for_update(of=("self",), no_key=True).get(player=player_id)


def latest_messages(case_ids: Iterable[int]) -> dict[int, str]:
    """Return the latest finding of each of these cases."""
    seen = Sighting.objects.filter(case__in=list(case_ids)).order_by("case", "-id").distinct("case")
    return dict(seen.values_list("case_id", "message"))

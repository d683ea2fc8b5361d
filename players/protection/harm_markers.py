"""Markers of harm: definitions, detection, and flags raised for staff.

A flag has no effect on the player, and the player is not notified. Staff decide what to do. Each
app defines the markers that its own tables show; `accounts.tasks` searches for all of
them. Rows from before a flag was closed no longer count for its marker.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Now

from audit import log
from players.models import Contact, ContactWay, Flag, FlagOutcome, Marker, Player, Sighting, Staff

Figure = timedelta | int | str
Row = Mapping[str, Any]

# Players to examine, and the time from which their rows count.
WHO = """
WITH who AS MATERIALIZED (
    SELECT p.id AS player_id, p.currency::text, j.time_zone::text, j.contact_above_month, greatest(
        %(seen)s::timestamptz - %(reach)s::interval,
        (SELECT max(f.closed_at) FROM players_flag AS f WHERE f.player_id = p.id AND f.marker = %(marker)s::text)
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
    """Raise a flag or add to the open one.

    Return False if the open flag already shows the same or a higher degree.
    """
    flag, is_new = Flag.objects.get_or_create(player_id=found.player_id, marker=definition.marker, closed_at=None)
    locked = Flag.objects.select_for_update().get(pk=flag.pk)
    last = Sighting.objects.filter(flag=flag).order_by("-id").first()
    if locked.closed_at is not None or (last is not None and found.degree <= last.degree):
        return False
    Sighting.objects.create(
        flag=flag,
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
            "flag": flag.pk,
            "marker": definition.marker.value,
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


class FlagError(Exception):
    """Nothing was written. The message is for staff."""


class FlagClosed(FlagError):
    """The flag is closed already."""


class NoContact(FlagError):
    """The flag has no contact. Even "no contact needed" must be recorded before the flag is closed."""


class NotYet(FlagError):
    """The time of the contact is in the future, or the next review is before the contact."""


def flags(*, player: Player | None = None, marker: Marker | None = None, is_open: bool = True) -> QuerySet[Flag]:
    """Return flags with their sightings and contacts, newest first."""
    found = Flag.objects.filter(closed_at__isnull=is_open).select_related("player__user", "player__jurisdiction")
    if player is not None:
        found = found.filter(player=player)
    if marker is not None:
        found = found.filter(marker=marker)
    seen = Prefetch("sightings", Sighting.objects.defer("rows").order_by("-id"))
    return found.prefetch_related(seen, Prefetch("contacts", Contact.objects.order_by("-id"))).order_by("-id")


@transaction.atomic
def record_contact(
    *, flag_id: int, made_at: datetime, way: ContactWay, said: str, next_review: date | None, by: Staff
) -> Contact:
    """Record how staff contacted the player because of a flag, what was said, and the date of the next review.

    Raises Flag.DoesNotExist, FlagClosed, NotYet.
    """
    flag = _open(flag_id)
    if not Flag.objects.filter(pk=flag.pk).annotate(now=Now()).filter(now__gte=made_at).exists():
        raise NotYet("The time of the contact is in the future.")
    if next_review is not None and next_review < made_at.date():
        raise NotYet("The follow-up date is before the contact.")
    contact = Contact.objects.create(flag=flag, staff=by, made_at=made_at, way=way, said=said, next_review=next_review)
    data: dict[str, log.Json] = {
        "flag": flag.pk,
        "contact": contact.pk,
        "way": way.value,
        "made_at": made_at.isoformat(),
        "next_look": next_review.isoformat() if next_review else None,
    }
    log.record("marker.contact", by=str(by), on=str(flag.player), data=data)
    return contact


@transaction.atomic
def close(*, flag_id: int, outcome: FlagOutcome, note: str, by: Staff) -> Flag:
    """Close a flag permanently. What was seen until now raises no new flag.

    Raises Flag.DoesNotExist, FlagClosed, NoContact.
    """
    flag = _open(flag_id)
    if not flag.contacts.exists():
        raise NoContact("Record a contact first, or record that none was needed.")
    Flag.objects.filter(pk=flag.pk).update(closed_at=Now(), closed_by=by, outcome=outcome, note=note)
    flag.refresh_from_db()
    data: dict[str, log.Json] = {"flag": flag.pk, "marker": str(flag.marker), "outcome": outcome.value}
    log.record("marker.closed", by=str(by), on=str(flag.player), data=data)
    return flag


def _open(flag_id: int) -> Flag:
    """Return the flag, locked until the transaction ends. Raises FlagClosed."""
    flag = Flag.objects.select_for_update(of=("self",)).select_related("player").get(pk=flag_id)
    if flag.closed_at is not None:
        raise FlagClosed("This marker is closed.")
    return flag

"""Markers of harm: what one is, looking for it in the tables, and the flag that it raises for staff.

A flag does nothing to the player, who is not told of it; people decide. Each floor defines the markers that its tables
show; `accounts.harm_marker_scan` looks for all of them. What lies before the closing of a flag counts no more for its
marker.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction

from audit import log
from players.models import Flag, Marker, Sighting

Figure = timedelta | int | str
Row = Mapping[str, Any]

# Whom to look at, and from when on their rows count.
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

# After a CTE `happened (player_id, at, place, items)`: the stretch of time with the most of them, where those are
# enough. *place* is what stretches are measured by; *items* are the rows behind one, as a JSON list.
MOST_WITHIN = """
, counted AS (
    SELECT h.player_id, h.place, count(*) OVER (
        PARTITION BY h.player_id ORDER BY h.place
        RANGE BETWEEN %(within)s::interval PRECEDING AND CURRENT ROW) AS degree
    FROM happened AS h
), worst AS (
    SELECT DISTINCT ON (c.player_id) c.player_id, c.place, c.degree FROM counted AS c
    WHERE c.degree >= %(least)s::bigint ORDER BY c.player_id, c.degree DESC, c.place DESC
), found AS (
    SELECT w.player_id, min(h.at) AS began, max(h.at) AS ended, w.degree,
        jsonb_agg(DISTINCT item.line) AS rows
    FROM worst AS w JOIN happened AS h ON h.player_id = w.player_id
        AND h.place BETWEEN w.place - %(within)s::interval AND w.place,
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
    """What the tables show of one player: rows from *began* to *ended*, amounts in minor units of *currency*."""

    player_id: int
    currency: str
    time_zone: str
    began: datetime
    ended: datetime
    degree: int  # what the marker counts: more is worse
    rows: Sequence[Row]

    def of(self, table: str) -> list[Row]:
        """Return the rows of one table."""
        return [row for row in self.rows if row["table"] == table]

    def local(self, moment: datetime) -> str:
        """Write a moment as the player's clock shows it."""
        return f"{moment.astimezone(ZoneInfo(self.time_zone)):%Y-%m-%d %H:%M}"


@dataclass(frozen=True)
class Definition:
    """What a marker means: a statement that finds it, the figures it decides by, and how staff are told.

    *statement* goes on after `WHO` and ends in a CTE ``found (player_id, began, ended, degree, rows)``. Rows count from
    *reach* before the last look.
    """

    marker: Marker
    reach: timedelta
    figures: Mapping[str, Figure]
    statement: str
    say: Callable[[Found], str]


def active_since(event_id: int) -> list[int]:
    """Return the players of whom anything is on record after that event."""
    with connection.cursor() as cursor:
        cursor.execute(ACTIVE, [event_id])
        return [player_id for (player_id,) in cursor]


def find(definition: Definition, *, players: Sequence[int], seen: datetime) -> list[Found]:
    """Return what the tables show of these players, who were last looked at when it was *seen*."""
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
    """Flag what was found, and return whether that is news: nothing is while a flag is open and it is no worse."""
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
        sentence=definition.say(found),
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
    """Read the rows as they happened."""
    return sorted(json.loads(rows), key=lambda row: (datetime.fromisoformat(row["at"]), row["table"], str(row["id"])))

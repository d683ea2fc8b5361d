"""Play sessions ("sittings") and the reality check.

A sitting holds what a player has done at tables since logging in. Tables show it permanently.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from audit import log
from players.models import Player, PlaySession, RealityCheck

INTERVALS = (15, 30, 60)  # minutes that a player may choose from

OPEN = """
INSERT INTO players_playsession (session, player_id, began)
VALUES (%(session)s, %(player)s,
    coalesce((SELECT began_at FROM players_session WHERE id = %(session)s), clock_timestamp()))
ON CONFLICT DO NOTHING
"""
READ = """
SELECT began, clock_timestamp(), rounds, staked_real, paid_real, staked_free, paid_free,
    players_check_due(player_id, session, %(usual)s)
FROM players_playsession WHERE session = %(session)s AND player_id = %(player)s
"""
# Set-based version of `players_note_round`, for all players of a round. The placeholder is a SELECT of
# (player_id, session, mode, staked, paid) with one row per player. Sittings are locked first, as in that
# function, and rows in order, so that two rounds that end at once cannot deadlock.
NOTE_SESSIONS = """
WITH played AS MATERIALIZED ({played}),
locked AS MATERIALIZED (
    SELECT played.* FROM players_playsession AS s
    JOIN played ON played.session = s.session AND played.player_id = s.player_id
    ORDER BY s.session FOR UPDATE OF s
)
UPDATE players_playsession AS s SET rounds = s.rounds + 1,
    staked_real = s.staked_real + CASE locked.mode WHEN 'R' THEN locked.staked ELSE 0 END,
    paid_real = s.paid_real + CASE locked.mode WHEN 'R' THEN locked.paid ELSE 0 END,
    staked_free = s.staked_free + CASE locked.mode WHEN 'F' THEN locked.staked ELSE 0 END,
    paid_free = s.paid_free + CASE locked.mode WHEN 'F' THEN locked.paid ELSE 0 END
FROM locked WHERE s.session = locked.session
"""
NOTE_TIMES = """
WITH played AS MATERIALIZED ({played}),
moment AS MATERIALIZED (SELECT clock_timestamp() AS at)
INSERT INTO players_playtime AS t (player_id, day, seconds, last_at)
SELECT played.player_id, (moment.at AT TIME ZONE law.time_zone)::date,
    CASE WHEN moment.at - last.last_at <= interval '9 minutes'
        THEN greatest(extract(epoch FROM moment.at - last.last_at), 0)::integer ELSE 0 END, moment.at
FROM played CROSS JOIN moment
JOIN players_player AS owner ON owner.id = played.player_id
JOIN players_jurisdiction AS law ON law.code = owner.jurisdiction_id
LEFT JOIN LATERAL (
    SELECT p.last_at FROM players_playtime AS p WHERE p.player_id = played.player_id ORDER BY p.day DESC LIMIT 1
) AS last ON true
ORDER BY played.player_id
ON CONFLICT (player_id, day) DO UPDATE SET seconds = t.seconds + excluded.seconds, last_at = excluded.last_at
"""


class UnknownInterval(Exception):
    """The interval is not offered."""


@dataclass(frozen=True)
class Seen:
    """A sitting at one time. Amounts in minor units of the player's currency; payouts include stakes."""

    began: datetime  # the log-in
    now: datetime  # by the database's clock
    rounds: int
    staked_real: int
    paid_real: int
    staked_free: int
    paid_free: int
    is_check_due: bool

    @property
    def lasted(self) -> timedelta:
        """Return the time since the log-in."""
        return self.now - self.began

    @property
    def net_real(self) -> int:
        """Return the net result of real money, positive if the player is ahead."""
        return self.paid_real - self.staked_real

    @property
    def net_free(self) -> int:
        """Return the net result of free money."""
        return self.paid_free - self.staked_free


def read_session(player: Player, session: UUID) -> Seen:
    """Return the sitting of a session. It is created on the first call and begins at the log-in.

    Raises PlaySession.DoesNotExist if the session belongs to another player.
    """
    found = _read(player, session)
    if found is None:
        with connection.cursor() as cursor:
            cursor.execute(OPEN, {"session": session, "player": player.pk})
        found = _read(player, session)
    if found is None:
        raise PlaySession.DoesNotExist  # the session belongs to another player
    return found


def interval(player: Player) -> int:
    """Return the interval of the reality check in minutes: the player's choice, or the default."""
    chosen = RealityCheck.objects.filter(player=player).order_by("-id").first()
    return chosen.minutes if chosen else settings.REALITY_CHECK_MINUTES


@transaction.atomic
def choose_interval(*, player: Player, minutes: int) -> None:
    """Set the interval of the reality check. Raises UnknownInterval."""
    if minutes not in INTERVALS:
        raise UnknownInterval
    before = interval(player)
    RealityCheck.objects.create(player=player, minutes=minutes)
    log.record(
        "reality_check.chosen", by=str(player), on=str(player), data={"minutes": minutes, "minutes_before": before}
    )


@transaction.atomic
def answer_check(*, player: Player, session: UUID, goes_on: bool) -> None:
    """Record the answer to a due reality check. The next one is due one interval later.

    Does nothing if no check is due.
    """
    seen = read_session(player, session)
    if not seen.is_check_due:
        return
    PlaySession.objects.filter(session=session, player=player).update(checked_at=seen.now)
    log.record(
        "reality_check.answered",
        by=str(player),
        on=str(player),
        data={
            "session": str(session),
            "goes_on": goes_on,
            "seconds": int(seen.lasted.total_seconds()),
            "staked_real": seen.staked_real,
            "paid_real": seen.paid_real,
            "staked_free": seen.staked_free,
            "paid_free": seen.paid_free,
        },
    )


def _read(player: Player, session: UUID) -> Seen | None:
    values = {"session": session, "player": player.pk, "usual": settings.REALITY_CHECK_MINUTES}
    with connection.cursor() as cursor:
        cursor.execute(READ, values)
        row = cursor.fetchone()
    return None if row is None else Seen(*row)


def note_all(played: str, parameters: Mapping[str, int | str | UUID | None]) -> None:
    """Add a finished round to the sittings and playing times of all its players.

    *played* is a SELECT of (player_id, session, mode, staked, paid) with one row per player.
    """
    with connection.cursor() as cursor:
        for statement in (NOTE_SESSIONS, NOTE_TIMES):
            cursor.execute(statement.format(played=played), parameters)

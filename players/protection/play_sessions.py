"""A sitting: what a player has done at tables since logging in, always in view there, and the reality check that has
them look at it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from audit import log
from players.models import Player, RealityCheck, Sitting

INTERVALS = (15, 30, 60)  # minutes that a player may choose between

OPEN = """
INSERT INTO players_sitting (session, player_id, began)
VALUES (%(session)s, %(player)s,
    coalesce((SELECT began_at FROM players_session WHERE id = %(session)s), clock_timestamp()))
ON CONFLICT DO NOTHING
"""
READ = """
SELECT began, clock_timestamp(), rounds, staked_real, paid_real, staked_free, paid_free,
    players_check_due(player_id, session, %(usual)s)
FROM players_sitting WHERE session = %(session)s AND player_id = %(player)s
"""
# What `players_note_round` does for one player, for all of a round at once: it is asked for some statement's rows of
# (player_id, session, mode, staked, paid), a player once. Sittings first, as there, and rows in order: two rounds that
# end at once wait for each other and not in a circle.
NOTE_SITTINGS = """
WITH played AS MATERIALIZED ({played}),
locked AS MATERIALIZED (
    SELECT played.* FROM players_sitting AS s
    JOIN played ON played.session = s.session AND played.player_id = s.player_id
    ORDER BY s.session FOR UPDATE OF s
)
UPDATE players_sitting AS s SET rounds = s.rounds + 1,
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
JOIN players_player AS whose ON whose.id = played.player_id
JOIN players_jurisdiction AS law ON law.code = whose.jurisdiction_id
LEFT JOIN LATERAL (
    SELECT p.last_at FROM players_playtime AS p WHERE p.player_id = played.player_id ORDER BY p.day DESC LIMIT 1
) AS last ON true
ORDER BY played.player_id
ON CONFLICT (player_id, day) DO UPDATE SET seconds = t.seconds + excluded.seconds, last_at = excluded.last_at
"""


class UnknownInterval(Exception):
    """An interval that the house does not offer."""


@dataclass(frozen=True)
class Seen:
    """A sitting at one moment. Amounts in minor units of the player's currency, payouts with the stakes."""

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
        """Time since the log-in."""
        return self.now - self.began

    @property
    def net_real(self) -> int:
        """What real money has come to: more than nothing where the player is ahead."""
        return self.paid_real - self.staked_real

    @property
    def net_free(self) -> int:
        """The same of free money."""
        return self.paid_free - self.staked_free


def sitting(player: Player, session: UUID) -> Seen:
    """Return the sitting of a session, which begins on first sight with the time of the log-in."""
    found = _read(player, session)
    if found is None:
        with connection.cursor() as cursor:
            cursor.execute(OPEN, {"session": session, "player": player.pk})
        found = _read(player, session)
    if found is None:
        raise Sitting.DoesNotExist  # the session is somebody else's
    return found


def interval(player: Player) -> int:
    """Return after how many minutes the player is told: their choice, or the house's usual."""
    chosen = RealityCheck.objects.filter(player=player).order_by("-id").first()
    return chosen.minutes if chosen else settings.REALITY_CHECK_MINUTES


@transaction.atomic
def choose_interval(*, player: Player, minutes: int) -> None:
    """Tell the player every so many minutes from now on. Raises UnknownInterval."""
    if minutes not in INTERVALS:
        raise UnknownInterval
    before = interval(player)
    RealityCheck.objects.create(player=player, minutes=minutes)
    log.record(
        "reality_check.chosen", by=str(player), on=str(player), data={"minutes": minutes, "minutes_before": before}
    )


@transaction.atomic
def answer_check(*, player: Player, session: UUID, goes_on: bool) -> None:
    """Have the player answer the reality check that waits; the next one comes an interval from now. Where none waits,
    nothing happens.
    """
    seen = sitting(player, session)
    if not seen.is_check_due:
        return
    Sitting.objects.filter(session=session, player=player).update(checked_at=seen.now)
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
    """Add a finished round to what is known of the session and of the day of everybody who has played it: *played* is a
    SELECT of (player_id, session, mode, staked, paid), a player once.
    """
    with connection.cursor() as cursor:
        for statement in (NOTE_SITTINGS, NOTE_TIMES):
            cursor.execute(statement.format(played=played), parameters)

"""Play sessions and the reality check.

A play session holds what a player has done at tables since logging in. Tables show it permanently.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from audit import log
from audit.raw_rows import Value, fetch_one, sqlstate
from players.models import Player, PlaySession, RealityCheck

INTERVALS = (15, 30, 60)  # minutes that a player may choose from


def totals(row: str, moment: str) -> str:
    """Return the columns of a `PlaySessionState` at *moment*, of the play session *row*.

    Whether a check is due is not among them.
    """
    names = ("rounds", "staked_real", "paid_real", "staked_free", "paid_free")
    return ", ".join([f"{row}.began", moment, *(f"{row}.{name}" for name in names)])


READ = f"""
SELECT {totals("own", "clock_timestamp() AS moment")},
    (SELECT c.due FROM players_check_due(own.player_id, own.session, %(usual)s) AS c) AS is_check_due
FROM players_playsession AS own WHERE own.session = %(session)s::uuid AND own.player_id = %(player)s
"""  # noqa: S608  (nothing but names of our own columns)
NOT_THEIRS = "SB080"  # SQLSTATE of players_begin_play_session


class UnknownInterval(Exception):
    """The interval is not offered."""


@dataclass(frozen=True)
class PlaySessionState:
    """A play session at one time. Amounts in minor units of the player's currency; payouts include stakes."""

    began: datetime  # the log-in
    now: datetime  # by the database's clock
    rounds: int
    staked_real: int
    paid_real: int
    staked_free: int
    paid_free: int
    is_check_due: bool

    @classmethod
    def of(cls, columns: Sequence[Any], *, is_check_due: bool = False) -> "PlaySessionState | None":
        """Return the play session of these `totals`, or None if it has not begun."""
        return cls(*columns, is_check_due=is_check_due) if columns[0] is not None else None  # type: ignore[misc]

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


def which(player: Player, session: UUID | None) -> dict[str, Value]:
    """Return the parameters of `READ`."""
    return {"session": session, "player": player.pk, "usual": settings.REALITY_CHECK_MINUTES}


def read_session(player: Player, session: UUID) -> PlaySessionState:
    """Return the play session of a session. It is created on the first call and begins at the log-in.

    Raises PlaySession.DoesNotExist if the session belongs to another player.
    """
    found = _read(player, session)
    if found is None:
        _begin(player, session)
        found = _read(player, session)
    assert found is not None  # noqa: S101  (the database has just said so)
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
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_choose_check_interval(%s, %s)", [player.pk, minutes])
    log.record(
        "reality_check.chosen", by=str(player), on=str(player), data={"minutes": minutes, "minutes_before": before}
    )


@transaction.atomic
def answer_check(*, player: Player, session: UUID, goes_on: bool) -> None:
    """Record the answer to a due reality check. The next one is due one interval later.

    Does nothing if no check is due.
    """
    state = read_session(player, session)
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_answer_check(%s, %s, %s)", [player.pk, session, settings.REALITY_CHECK_MINUTES])
        (is_answered,) = cursor.fetchone()
    if not is_answered:
        return
    log.record(
        "reality_check.answered",
        by=str(player),
        on=str(player),
        data={
            "session": str(session),
            "goes_on": goes_on,
            "seconds": int(state.lasted.total_seconds()),
            "staked_real": state.staked_real,
            "paid_real": state.paid_real,
            "staked_free": state.staked_free,
            "paid_free": state.paid_free,
        },
    )


def _begin(player: Player, session: UUID) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT players_begin_play_session(%s, %s)", [player.pk, session])
    except DatabaseError as error:
        if sqlstate(error) != NOT_THEIRS:
            raise
        raise PlaySession.DoesNotExist from error


def _read(player: Player, session: UUID) -> PlaySessionState | None:
    row = fetch_one(READ, which(player, session))
    return None if row is None else PlaySessionState(*row)

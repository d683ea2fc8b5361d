"""Finding rounds among any number of them, newest first: one line for each player's part in each round.

Of every table and kind of money that is asked for, one range of one index gives the next few; the newest of them all
are the answer. Amounts have indexes of their own, and annulled rounds are few: PostgreSQL begins there, where that is
shorter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from django.db import connection
from django.db.models import Q, QuerySet

from games.models import OPEN_PHASES, LiveRound, LiveSeat, Participation, Result, Table
from players.models import Player
from wallet.models import Mode

PAGE: Final = 50
END: Final = 2**63 - 1  # later than every id
TICK: Final = timedelta(microseconds=1)  # of PostgreSQL's clock


class Status(StrEnum):
    """How far a round has come (GLI-19 v3.0, 2.8.2)."""

    COMPLETE = "complete"
    VOID = "void"
    IN_PROGRESS = "in progress"
    INTERRUPTED = "interrupted"  # in progress at a table that stands still


OVER: Final = (None, Status.COMPLETE, Status.VOID)


@dataclass(frozen=True)
class Wanted:
    """Which rounds: an empty field asks for nothing. Amounts in minor units of *currency*, which goes with them."""

    players: tuple[int, ...] | None = None  # None: anybody's
    since: datetime | None = None
    before: datetime | None = None
    tables: tuple[int, ...] | None = None
    modes: tuple[Mode, ...] = tuple(Mode)
    currency: str = ""
    staked: tuple[int | None, int | None] = (None, None)  # at least, at most
    paid: tuple[int | None, int | None] = (None, None)
    outcome: tuple[str, ...] = ()  # as stored; a game between guests has words of its own
    status: Status | None = None


FIND = """
SELECT found.id
FROM unnest(%(tables)s::bigint[]) AS seat (id)
CROSS JOIN unnest(%(modes)s::text[]) AS asked (mode){results}
CROSS JOIN LATERAL (
    SELECT part.id, part.at
    FROM games_participation AS part
    WHERE part.table_id = seat.id AND part.mode = asked.mode
      AND part.at >= %(since)s::timestamptz AND part.at < %(until)s::timestamptz
      AND (part.at, part.id) < (%(mark_at)s::timestamptz, %(mark)s){conditions}
    ORDER BY part.at DESC, part.id DESC
    LIMIT %(limit)s
) AS found
ORDER BY found.at DESC, found.id DESC
LIMIT %(limit)s
"""

# What is known of somebody's rounds is in their index by result.
BY_RESULT = """
CROSS JOIN unnest(%(players)s::bigint[]) AS whose (id)
CROSS JOIN unnest(%(results)s::smallint[]) AS ended (result)"""
IN_PLAYERS = "\n      AND part.player_id = whose.id AND part.result = ended.result"
IN_CURRENCY = "\n      AND part.currency = %(currency)s"
AT_LEAST = "\n      AND part.{column} >= %({column}_least)s"
AT_MOST = "\n      AND part.{column} <= %({column}_most)s"
OUTCOME = """
      AND EXISTS (
          SELECT FROM games_round AS round WHERE round.id = part.round_id AND round.outcome = ANY(%(outcome)s::text[])
      )"""
COMPLETE = "\n      AND NOT EXISTS (SELECT FROM games_void AS void WHERE void.round_id = part.round_id)"
# An array and no join, so that PostgreSQL looks these few up whatever it believes about their number.
VOID = "\n      AND part.round_id = ANY(ARRAY(SELECT void.round_id FROM games_void AS void))"


def find(wanted: Wanted, *, before: int | None = None, limit: int = PAGE + 1) -> list[Participation]:
    """Return the parts in finished rounds that fit and are older than the one with the mark *before*, newest first,
    with what is shown of them. A mark that is none is taken for none.
    """
    statement, values = query(wanted, before=before, limit=limit)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        ids = [pk for (pk,) in cursor.fetchall()]
    found = Participation.objects.filter(pk__in=ids).order_by("-at", "-pk")
    return list(found.select_related("round__void", "round__table_version__table"))


def query(wanted: Wanted, *, before: int | None, limit: int) -> tuple[str, Mapping[str, Any]]:
    """Return the statement that finds them, and its values."""
    mark_at = Participation.objects.filter(pk=before).values_list("at", flat=True).first() if before else None
    until = wanted.before
    if mark_at is not None:  # of the time alone as well: PostgreSQL begins an index there, and not at the mark
        after = mark_at + TICK
        until = min(until, after) if until else after
    values: dict[str, Any] = {
        "tables": list(wanted.tables if wanted.tables is not None else Table.objects.values_list("pk", flat=True)),
        "modes": [mode.value for mode in wanted.modes],
        "players": list(wanted.players or ()),
        "results": [int(each) for each in Result],
        "since": wanted.since or "-infinity",
        "until": until or "infinity",
        "mark_at": mark_at or "infinity",
        "mark": before if mark_at else END,
        "currency": wanted.currency,
        "outcome": list(wanted.outcome),
        "limit": limit,
    }
    conditions = [IN_PLAYERS] if wanted.players is not None else []
    if wanted.currency:
        conditions.append(IN_CURRENCY)
    for column, (least, most) in (("staked", wanted.staked), ("paid", wanted.paid)):
        if least is not None:
            conditions.append(AT_LEAST.format(column=column))
        if most is not None:
            conditions.append(AT_MOST.format(column=column))
        values |= {f"{column}_least": least, f"{column}_most": most}
    if wanted.outcome:
        conditions.append(OUTCOME)
    if wanted.status in (Status.COMPLETE, Status.VOID):
        conditions.append(COMPLETE if wanted.status is Status.COMPLETE else VOID)
    results = BY_RESULT if wanted.players is not None else ""
    return FIND.format(results=results, conditions="".join(conditions)), values


def in_progress(wanted: Wanted) -> QuerySet[LiveRound]:
    """Return the rounds of live tables that are in progress and fit, newest first; there are few. What will have been
    staked on one and how it ends is not known: who asks for that finds none.
    """
    if wanted.outcome or (wanted.staked, wanted.paid) != ((None, None), (None, None)):
        return LiveRound.objects.none()
    found = LiveRound.objects.filter(phase__in=OPEN_PHASES, live_table__mode__in=wanted.modes)
    if wanted.status is Status.INTERRUPTED:
        found = found.filter(live_table__stopped_by__isnull=False)
    if wanted.tables is not None:
        found = found.filter(live_table__table__in=wanted.tables)
    if wanted.since:
        found = found.filter(opened_at__gte=wanted.since)
    if wanted.before:
        found = found.filter(opened_at__lt=wanted.before)
    if wanted.players is not None:
        bets = LiveSeat.objects.filter(player__in=wanted.players).exclude(stakes={}).values("round_id")
        guests = Q(live_table__guests__player__in=wanted.players, live_table__guests__left_at=None)
        found = found.filter(Q(pk__in=bets) | guests).distinct()
    return found.select_related("live_table__table", "version").order_by("-opened_at")


def players_called(text: str, *, by_address: bool, by_name: bool) -> Sequence[int]:
    """Return who is meant: by number, "player:7" or "7"; by e-mail address or by the name in the chat, where whoever
    asks may know these.
    """
    who = text.strip().lower().removeprefix("player:")
    if who.isascii() and who.isdecimal():
        return list(Player.objects.filter(pk=who).values_list("pk", flat=True)) if len(who) < 19 else []
    meant = Q(pk__in=())
    if by_address:
        meant |= Q(user__email=who)
    if by_name:
        meant |= Q(chatname__name__iexact=text.strip())
    return list(Player.objects.filter(meant).values_list("pk", flat=True))

"""Searches the rounds of all players, newest first: one row for each player's part in each round.

For each table and kind of money, one index range gives the next few rounds; the newest of all are
the result. Amounts have their own indexes, and voided rounds are few, so PostgreSQL starts there if
that is cheaper.
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
END: Final = 2**63 - 1  # greater than every id
TICK: Final = timedelta(microseconds=1)  # resolution of PostgreSQL's clock


class Status(StrEnum):
    """The state of a round (GLI-19 v3.0, 2.8.2)."""

    COMPLETE = "complete"
    VOID = "void"
    IN_PROGRESS = "in progress"
    INTERRUPTED = "interrupted"  # in progress at a stopped table


OVER: Final = (None, Status.COMPLETE, Status.VOID)


@dataclass(frozen=True)
class Wanted:
    """Search criteria. An empty field matches everything. Amounts are minor units of *currency*."""

    players: tuple[int, ...] | None = None  # None: all players
    since: datetime | None = None
    before: datetime | None = None
    tables: tuple[int, ...] | None = None
    modes: tuple[Mode, ...] = tuple(Mode)
    currency: str = ""
    staked: tuple[int | None, int | None] = (None, None)  # minimum, maximum
    paid: tuple[int | None, int | None] = (None, None)
    outcome: tuple[str, ...] = ()  # as stored; Chemin de Fer has its own values
    status: Status | None = None


FIND = """
SELECT found.id
FROM unnest(%(tables)s::bigint[]) AS game_table (id)
CROSS JOIN unnest(%(modes)s::text[]) AS asked (mode){results}
CROSS JOIN LATERAL (
    SELECT part.id, part.at
    FROM games_participation AS part
    WHERE part.table_id = game_table.id AND part.mode = asked.mode
      AND part.at >= %(since)s::timestamptz AND part.at < %(until)s::timestamptz
      AND (part.at, part.id) {side} (%(start_at)s::timestamptz, %(start_id)s){conditions}
    ORDER BY part.at {order}, part.id {order}
    LIMIT %(limit)s
) AS found
{outer}LIMIT %(limit)s
"""
OUTER = "ORDER BY found.at {order}, found.id {order}\n"

# The index of a player's rounds includes the result.
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
# An array instead of a join: PostgreSQL then looks up these few rows whatever its statistics say.
VOID = "\n      AND part.round_id = ANY(ARRAY(SELECT void.round_id FROM games_void AS void))"


Start = tuple[datetime, int]
"""Time and id of the row from which a search goes on."""


def find(
    wanted: Wanted,
    *,
    before: int | None = None,
    start: Start | None = None,
    is_rising: bool = False,
    limit: int = PAGE + 1,
) -> list[Participation]:
    """Return the parts in finished rounds that match, with the related rows to show.

    They are newest first, or oldest first if *is_rising*, and come after *start* in this order.
    *before* is the id of a row to go on from; an unknown id is ignored.
    """
    statement, values = query(wanted, before=before, start=start, is_rising=is_rising, limit=limit)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        ids = [pk for (pk,) in cursor.fetchall()]
    order = ("at", "pk") if is_rising else ("-at", "-pk")
    found = Participation.objects.filter(pk__in=ids).order_by(*order)
    return list(found.select_related("round__void", "round__table_version__table"))


def query(
    wanted: Wanted,
    *,
    before: int | None = None,
    start: Start | None = None,
    is_rising: bool = False,
    is_sorted: bool = True,
    limit: int,
) -> tuple[str, Mapping[str, Any]]:
    """Return the SQL statement of the search and its parameters. Not *is_sorted*: any rows, and no more are read."""
    if before and not start:
        start = Participation.objects.filter(pk=before).values_list("at", "pk").first()
    since, until = wanted.since, wanted.before
    if start:  # a condition on the time alone too, because PostgreSQL can start the index scan there
        if is_rising:
            since = max(since, start[0]) if since else start[0]
        else:
            until = min(until, start[0] + TICK) if until else start[0] + TICK
    start_at, start_id = start or (("-infinity", 0) if is_rising else ("infinity", END))
    values: dict[str, Any] = {
        "tables": list(wanted.tables if wanted.tables is not None else Table.objects.values_list("pk", flat=True)),
        "modes": [mode.value for mode in wanted.modes],
        "players": list(wanted.players or ()),
        "results": [int(each) for each in Result],
        "since": since or "-infinity",
        "until": until or "infinity",
        "start_at": start_at,
        "start_id": start_id,
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
    side, order = (">", "ASC") if is_rising else ("<", "DESC")
    outer = OUTER.format(order=order) if is_sorted else ""
    return FIND.format(results=results, conditions="".join(conditions), side=side, order=order, outer=outer), values


def in_progress(wanted: Wanted) -> QuerySet[LiveRound]:
    """Return the matching rounds in progress at live tables, newest first. There are few.

    Their stakes and outcome are not final, so a search by amount or outcome returns none.
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
        chemin_state = Q(live_table__chemin_seats__player__in=wanted.players, live_table__chemin_seats__left_at=None)
        found = found.filter(Q(pk__in=bets) | chemin_state).distinct()
    return found.select_related("live_table__table", "version").order_by("-opened_at")


def players_called(text: str, *, by_address: bool, by_name: bool) -> Sequence[int]:
    """Return the ids of the players with this number, e-mail address or chat name.

    A number is "player:7" or "7". *by_address* and *by_name* say whether the caller may search by
    these.
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

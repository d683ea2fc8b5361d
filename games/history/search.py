"""Searches a player's rounds, newest first, at a cost that does not depend on their number.

For each table and result, one index range gives the next few rounds; the newest of all are the
result.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import pgettext_lazy

from audit.raw_rows import array, columns, fetch_all, instance, instance_or_none
from games.models import (
    OPEN_PHASES,
    ChatName,
    CheminSeat,
    LiveRound,
    LiveSeat,
    Participation,
    Result,
    Round,
    Shoe,
    Table,
    TableVersion,
    Void,
    VoidPart,
    Wager,
)
from games.models.rounds import read_code
from players.models import Player
from players.search import SEE, Finder, Hit, read_uuid
from wallet.models import Mode


class Ending(StrEnum):
    """Result of a round for the player."""

    WON = "won"
    LOST = "lost"
    EVEN = "even"
    VOID = "void"


RESULTS = {Ending.WON: Result.WON, Ending.LOST: Result.LOST, Ending.EVEN: Result.EVEN}


@dataclass(frozen=True)
class Search:
    """Search criteria: days in *zone* (both included), table, result (None: any) and kind of money."""

    since: date | None = None
    until: date | None = None
    table: str | None = None  # its slug
    ending: Ending | None = None
    zone: tzinfo = UTC
    mode: Mode = Mode.REAL


FIND = """
SELECT found.id
FROM unnest(%(tables)s::bigint[]) AS game_table (id)
CROSS JOIN unnest(%(results)s::smallint[]) AS asked (result)
CROSS JOIN LATERAL (
    SELECT part.id, part.at
    FROM games_participation AS part
    WHERE part.player_id = %(player)s AND part.mode = %(mode)s
      AND part.table_id = game_table.id AND part.result = asked.result
      AND part.at >= %(begin)s::timestamptz AND part.at < %(end)s::timestamptz
      AND (part.at, part.id) < (%(before_at)s::timestamptz, %(before_id)s)
      AND (%(void_too)s OR NOT EXISTS (SELECT FROM games_void AS void WHERE void.round_id = part.round_id))
    ORDER BY part.at DESC, part.id DESC
    LIMIT %(limit)s
) AS found
ORDER BY found.at DESC, found.id DESC
LIMIT %(limit)s
"""

# Like FIND; at most LONGEST_TOTALS days, so that its cost has a bound. Void rounds do not count.
TOTALS = """
SELECT (part.at AT TIME ZONE %(zone)s)::date, game_table.variant, count(*), sum(part.staked)::bigint,
    sum(part.paid)::bigint
FROM games_table AS game_table
CROSS JOIN unnest(%(results)s::smallint[]) AS asked (result)
JOIN games_participation AS part ON part.player_id = %(player)s AND part.mode = %(mode)s
    AND part.table_id = game_table.id AND part.result = asked.result
    AND part.at >= greatest(%(begin)s::timestamptz,
        least(%(end)s::timestamptz, clock_timestamp()) - make_interval(days => %(days)s))
    AND part.at < %(end)s::timestamptz
WHERE game_table.id = ANY (%(tables)s::bigint[])
    AND NOT EXISTS (SELECT FROM games_void AS void WHERE void.round_id = part.round_id)
GROUP BY 1, 2 ORDER BY 1 DESC, 2
"""
LONGEST_TOTALS: Final = 31  # days

EVERY_TABLE = "SELECT id FROM games_table"
ONE_TABLE = "SELECT id FROM games_table WHERE slug = %s"
PARTS = f"""
SELECT {columns(Participation, "part")}, {columns(Round, "round")}, {columns(Shoe, "shoe")}, {columns(Void, "void")}
FROM games_participation AS part
JOIN games_round AS round ON round.id = part.round_id
LEFT JOIN games_shoe AS shoe ON shoe.id = round.shoe_id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE part.id = ANY (%s::bigint[]) ORDER BY part.at DESC, part.id DESC
"""  # noqa: S608  (nothing but names of our own columns)
TABLES = f"SELECT {columns(Table, 'game_table')} FROM games_table AS game_table"  # noqa: S608  (see above)
WAGERS = f"""
SELECT {columns(Wager, "wager")} FROM games_wager AS wager WHERE participation_id = ANY (%s::bigint[]) ORDER BY id
"""  # noqa: S608  (nothing but names of our own columns)

END = 2**63 - 1  # greater than every id


def find(player: Player, search: Search, *, before: int | None = None, limit: int) -> list[Participation]:
    """Return the player's rounds older than the id *before*, newest first, with the rows to show.

    An id that is not one of the player's is ignored.
    """
    if search.ending is Ending.VOID:
        ids = _void(player, search, before, limit)
    else:
        with connection.cursor() as cursor:
            cursor.execute(FIND, parameters(player, search, before=before, limit=limit))
            ids = [pk for (pk,) in cursor.fetchall()]
    return _read(ids)


def _read(ids: list[int]) -> list[Participation]:
    """Return the rows of these rounds, newest first, with everything that is shown of them."""
    if not ids:
        return []
    tables = {table.pk: table for table in (instance(Table, row) for row in fetch_all(TABLES, []))}
    versions: dict[int, TableVersion] = {}
    parts = [_part(row, versions, tables) for row in fetch_all(PARTS, [array(ids)])]
    wagers: dict[int, list[Wager]] = {part.pk: [] for part in parts}
    for wager in (instance(Wager, row) for row in fetch_all(WAGERS, [array(ids)])):
        wagers[wager.participation_id].append(wager)
    for part in parts:
        part.keep_wagers(wagers[part.pk])
    return parts


def _part(row: Iterator[Any], versions: dict[int, TableVersion], tables: Mapping[int, Table]) -> Participation:
    part, played = instance(Participation, row), instance(Round, row)
    part.round, played.shoe = played, instance_or_none(Shoe, row)
    number = played.table_version_id
    if number not in versions:
        versions[number] = copy(TableVersion.stored(number))
        versions[number].table = tables[versions[number].table_id]
    played.table_version = versions[number]
    Round._meta.get_field("void").set_cached_value(played, instance_or_none(Void, row))
    return part


class DayTotal(NamedTuple):
    """A player's stakes and payouts in one game on one day of the search's zone. Minor units."""

    day: date
    variant: str
    rounds: int
    staked: int
    paid: int

    @property
    def net(self) -> int:
        """Return what was won, or below zero what was lost."""
        return self.paid - self.staked


def totals(player: Player, search: Search) -> list[DayTotal]:
    """Return the totals of the rounds that match, newest day first, for at most `LONGEST_TOTALS` days."""
    asked = parameters(player, search, before=None, limit=0)
    asked |= {"zone": str(search.zone), "days": LONGEST_TOTALS}
    return [DayTotal(*row) for row in fetch_all(TOTALS, asked)]


def every(player: Player, search: Search, *, at_once: int = 500) -> Iterator[Participation]:
    """Return all rounds that match, reading *at_once* rows at a time."""
    before: int | None = None
    while parts := find(player, search, before=before, limit=at_once):
        yield from parts
        before = parts[-1].pk


def parameters(player: Player, search: Search, *, before: int | None, limit: int) -> dict[str, Any]:
    """Return the parameters of FIND."""
    tables = fetch_all(ONE_TABLE, [search.table]) if search.table else fetch_all(EVERY_TABLE, [])
    begin, end = _bounds(search)
    before_id = _moment_of(before, player)
    return {
        "player": player.pk,
        "mode": search.mode.value,
        "tables": [number for (number,) in tables],
        "results": [int(RESULTS[search.ending])] if search.ending else [int(each) for each in Result],
        "begin": begin or "-infinity",
        "end": end or "infinity",
        "before_at": before_id or "infinity",
        "before_id": before if before_id else END,
        "void_too": search.ending is None,
        "limit": limit,
    }


def _void(player: Player, search: Search, before: int | None, limit: int) -> list[int]:
    """Find among the player's voided rounds, which are few."""
    begin, end = _bounds(search)
    rounds = VoidPart.objects.filter(player=player).values("void_id")
    found = Participation.objects.filter(player=player, mode=search.mode, round_id__in=rounds)
    if search.table:
        found = found.filter(table__slug=search.table)
    if begin:
        found = found.filter(at__gte=begin)
    if end:
        found = found.filter(at__lt=end)
    if before is not None and (before_id := _moment_of(before, player)):
        found = found.filter(at__lte=before_id).exclude(at=before_id, pk__gte=before)
    return list(found.order_by("-at", "-pk").values_list("pk", flat=True)[:limit])


def _moment_of(before_id: int | None, player: Player) -> datetime | None:
    """Return when the player's round with this id was played; None if there is none."""
    if before_id is None:
        return None
    return Participation.objects.filter(pk=before_id, player=player).values_list("at", flat=True).first()


def _bounds(search: Search) -> tuple[datetime | None, datetime | None]:
    """Return the start of the first day and the end of the last day."""
    begin = datetime.combine(search.since, time(), search.zone) if search.since else None
    end = datetime.combine(search.until + timedelta(days=1), time(), search.zone) if search.until else None
    return begin, end


LONGEST_NAME: Final = 20  # characters of a chat name


def _round(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    code, round_id = read_code(typed), read_uuid(typed, "round")
    if code is None and round_id is None:
        return None
    which = Q(code=code) if code else Q(pk=round_id)
    played = Round.objects.filter(which).first()
    if played:
        parts = Participation.objects.filter(round=played, player__gt=after).order_by("player_id")[:limit]
        return [Hit(part.player_id, f"{played.code}, {played.at:%Y-%m-%d %H:%M} UTC") for part in parts]
    # There are at most as many rounds in progress as live tables.
    going = LiveRound.objects.filter(which, phase__in=OPEN_PHASES).first()
    if going is None:
        return []
    betting = LiveSeat.objects.filter(round_id=going.pk).exclude(stakes={}).values_list("player_id", flat=True)
    seated = CheminSeat.objects.filter(live_table=going.live_table_id, left_at=None, player__isnull=False)
    there = {*betting, *(number for number in seated.values_list("player_id", flat=True) if number)}
    return [Hit(number, f"{going.code}, in progress") for number in sorted(there) if number > after][:limit]


def _chat_name(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if not 2 <= len(typed) <= LONGEST_NAME or "@" in typed:
        return None
    known = ChatName.objects.alias(lower=Lower("name")).filter(lower=typed.lower(), player__gt=after)
    return [Hit(each.player_id, each.name) for each in known[:limit]]


FINDERS: Final = (
    Finder("round", pgettext_lazy("search", "round"), (SEE,), _round),
    Finder("chat", pgettext_lazy("search", "chat name"), (SEE,), _chat_name),
)

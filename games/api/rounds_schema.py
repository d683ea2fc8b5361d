"""API schema of the finished rounds of a live table, in the order of the table."""

import re
from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q
from rest_framework import serializers

from games.models import LiveTable, Phase, Void
from games.shared.pages.stream_tokens import RoundCursor

BEGINNING: Final = RoundCursor(0, 0)  # before the first round of a table
NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,4})", re.ASCII)  # of a shoe, and of a round in it

# Returns the latest finished rounds from a given one on, newest first. Parameters: the live table;
# a shoe; a shoe and a round in it; the limit. Rounds without a bet are left out. The cards of a
# round that was voided before it was paid are empty.
READ_OVER: Final = f"""
SELECT shoe.number AS shoe, round.number AS number, round.id AS id, round.code AS code,
    coalesce(game_round.at, round.ended_at) AS at,
    CASE round.phase WHEN '{Phase.SETTLED}' THEN game_round.cards ELSE '' END AS cards,
    void.round_id IS NOT NULL AS is_void, coup.punter_draws AS punter_draws, coup.banker_draws AS banker_draws
FROM games_shoe AS shoe
JOIN games_liveround AS round ON round.shoe_id = shoe.id
LEFT JOIN games_round AS game_round ON game_round.id = round.id
LEFT JOIN games_void AS void ON void.round_id = round.id
LEFT JOIN games_chemincoup AS coup ON coup.round_id = round.id
WHERE shoe.live_table_id = %s AND shoe.number >= %s AND (shoe.number, round.number) >= (%s, %s)
    AND (round.phase = '{Phase.SETTLED}' OR round.phase = '{Phase.VOID}' AND void.round_id IS NOT NULL)
ORDER BY shoe.number DESC, round.number DESC LIMIT %s
"""  # noqa: S608  (only our own names)


class OverSchema(serializers.Serializer[Any]):
    """Fields of every finished round."""

    id = serializers.UUIDField()
    code = serializers.CharField(help_text="what people say to each other")
    shoe = serializers.IntegerField(help_text="the number of its shoe at the table")
    number = serializers.IntegerField(help_text="in the shoe")
    at = serializers.DateTimeField(help_text="when it was over, as in your history")
    is_void = serializers.BooleanField(help_text="whether every stake was given back")


def over(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the common fields from a row of `READ_OVER`."""
    return {name: row[name] for name in ("id", "code", "shoe", "number", "at", "is_void")}


def cursor_of(row: Mapping[str, Any]) -> RoundCursor:
    """Return the position of a round in the order of its table."""
    return RoundCursor(row["shoe"], row["number"])


def number_of(cursor: RoundCursor) -> str:
    """Return the event id of a position."""
    return f"{cursor.shoe}-{cursor.round}"


def read_number(live_table: LiveTable, number: str) -> RoundCursor:
    """Return the position that an event id stands for.

    If that round is not finished, the last finished round before it is returned. Raises ValueError
    if the table has no such round.
    """
    found = NUMBER.fullmatch(number)
    if found is None:
        raise ValueError(number)
    cursor = RoundCursor(*map(int, found.groups()))
    if cursor == BEGINNING:
        return cursor
    if not live_table.rounds.filter(shoe__number=cursor.shoe, number=cursor.round).exists():
        raise ValueError(number)
    up_to = Q(shoe__number__lt=cursor.shoe) | Q(shoe__number=cursor.shoe, number__lte=cursor.round)
    is_over = Q(phase=Phase.SETTLED) | Q(Exists(Void.objects.filter(round=OuterRef("pk"))), phase=Phase.VOID)
    ended = live_table.rounds.filter(up_to, is_over).order_by("-shoe__number", "-number")
    last = ended.values_list("shoe__number", "number").first()
    return RoundCursor(*last) if last else BEGINNING

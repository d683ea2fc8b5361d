"""A player's place at a table: taken once, read with the table and the version in force there, committed to round after
round.
"""

import json
from collections.abc import Mapping
from uuid import UUID

from django.db import connection

from games.errors import TableChanged
from games.models import NextRound, Table, TableVersion
from games.rows import columns, fetch_one, instance
from games.seeds import new_sealed_seed
from games.variants import VARIANTS
from players.models import Player
from wallet.models import Mode

READ = f"""
SELECT {columns(NextRound, "place")}, {columns(Table, "seat")}, {columns(TableVersion, "version")}
FROM games_nextround AS place
JOIN games_table AS seat ON seat.id = place.table_id
LEFT JOIN games_tableversion AS version ON version.id = seat.version_id
WHERE place.player_id = %s AND place.table_id = %s AND place.mode = %s
"""  # noqa: S608  (nothing but names of our own columns)
# The table first: the row is shared among those who play and kept from whoever changes it, until the round is whole. A
# change that this statement had to wait for has a version it cannot see yet: the table row names it, the join does not.
LOCK = f"""
WITH seat AS MATERIALIZED (SELECT * FROM games_table WHERE id = %s FOR SHARE)
{READ.replace("JOIN games_table AS seat", "JOIN seat", 1)}
FOR UPDATE OF place
"""  # noqa: S608

SUCCEED = """
UPDATE games_nextround
SET round_id = %s, commitment = %s, sealed_seed = %s, slip = %s::jsonb, undo = '[]', slip_version = 0,
    last_stakes = %s::jsonb, last_round = round_id, unseen = round_id
WHERE id = %s
"""
KEEP_VALUE = "UPDATE games_nextround SET player_value = %s WHERE id = %s"
TOUCH = "UPDATE games_nextround SET used_at = clock_timestamp() WHERE id = %s"


def read(player: Player, table_id: int, mode: Mode, *, lock: bool = False) -> NextRound | None:
    """Return the place with its table and version, None where none was taken. If asked, its row is locked, and the
    table's against changes. Raises TableChanged where a change was committed just now.
    """
    place_key: list[int | str | UUID] = [player.pk, table_id, mode.value]
    row = fetch_one(LOCK, [table_id, *place_key]) if lock else fetch_one(READ, place_key)
    if row is None:
        return None
    place, table, version = instance(NextRound, row), instance(Table, row), instance(TableVersion, row)
    if table.version_id is not None and version.pk is None:
        raise TableChanged
    place.player, place.table, table.version = player, table, version if version.pk else None
    return place


def take(player: Player, table_id: int, mode: Mode) -> None:
    """Commit to a first round there, unless another tab has come first: then its round is the one."""
    seed = new_sealed_seed()
    place = NextRound(
        player=player,
        table_id=table_id,
        mode=mode,
        round_id=seed.round_id,
        commitment=seed.commitment,
        sealed_seed=seed.sealed,
    )
    NextRound.objects.bulk_create([place], ignore_conflicts=True)


def keep_value(place: NextRound, value: str) -> None:
    """Keep what the player has written into the shuffle, for this round and those after it, until it is changed."""
    if value != place.player_value:
        place.player_value = value
        with connection.cursor() as cursor:
            cursor.execute(KEEP_VALUE, [value, place.pk])


def takes_bets(table: Table) -> bool:
    """Say whether bets are taken there: the table is open, and this program plays the rules it was put live with."""
    version = table.version
    return table.is_open and version is not None and version.rules_digest == VARIANTS[table.variant].digest


def touch(place: NextRound) -> None:
    """Note that the player does something there, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(TOUCH, [place.pk])


def succeed(place: NextRound, *, last_stakes: Mapping[str, int], standing: Mapping[str, int]) -> None:
    """Commit to the round after the one just played, with the *standing* bets on the table."""
    seed, last = new_sealed_seed(), json.dumps(dict(last_stakes))
    with connection.cursor() as cursor:
        cursor.execute(
            SUCCEED, [seed.round_id, seed.commitment, seed.sealed, json.dumps(dict(standing)), last, place.pk]
        )

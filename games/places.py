"""A player's place at a table: taken once, read with the table and the version in force there, committed to round after
round.
"""

import json
from collections.abc import Mapping

from django.db import connection

from games.models import NextRound, Table, TableVersion
from games.rows import columns, fetch_one, instance
from games.seeds import new_sealed_seed
from players.models import Player
from wallet.models import Mode

READ = f"""
SELECT {columns(NextRound, "place")}, {columns(Table, "seat")}, {columns(TableVersion, "version")}
FROM games_nextround AS place
JOIN games_table AS seat ON seat.id = place.table_id
LEFT JOIN games_tableversion AS version ON version.id = seat.version_id
WHERE place.player_id = %s AND place.table_id = %s AND place.mode = %s
"""  # noqa: S608  (nothing but names of our own columns)
LOCK = f"{READ} FOR UPDATE OF place"

SUCCEED = """
UPDATE games_nextround
SET round_id = %s, commitment = %s, sealed_seed = %s, slip = '{}', undo = '[]', slip_version = 0,
    last_stakes = %s::jsonb, last_round = round_id
WHERE id = %s
"""


def read(player: Player, table_id: int, mode: Mode, *, lock: bool = False) -> NextRound | None:
    """Return the place with its table and version, and its row locked if asked; None where none was taken."""
    row = fetch_one(LOCK if lock else READ, [player.pk, table_id, mode.value])
    if row is None:
        return None
    place, table, version = instance(NextRound, row), instance(Table, row), instance(TableVersion, row)
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


def succeed(place: NextRound, *, last_stakes: Mapping[str, int]) -> None:
    """Commit to the round after the one just played, on an empty table."""
    seed = new_sealed_seed()
    with connection.cursor() as cursor:
        cursor.execute(SUCCEED, [seed.round_id, seed.commitment, seed.sealed, json.dumps(dict(last_stakes)), place.pk])

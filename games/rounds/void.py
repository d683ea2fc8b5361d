"""Void a round: reverse its money and notify its players. This is the only way to void a round.

A solo round is voided only if its seed does not reproduce it (`games.verification.verification_task`); no
person can request it. `games.shared.malfunction` decides when a shared table's round is voided;
`games.shared.malfunction` does it with these functions.
"""

import json
from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction

from audit import log
from audit.log import Json
from games.models import Round, Void, VoidReason
from players.models import Player
from wallet.ledger.round_reversal import Undone, undo_round
from wallet.models import Mode

MOST_NAMED = 100  # players named in the event of a void; a hash covers all of them


class RoundNotFound(LookupError):
    """There is no such round."""


@transaction.atomic
def void_round(*, round_id: UUID, reason: VoidReason, by: str) -> Void:
    """Void a settled round: return every stake, take back every payout and notify the players.

    Idempotent: a second call returns the first void and moves nothing.

    Locks the round (by the row of its void, for which a second caller waits), then accounts
    ascending by id. A caller that also closes the table does that first. Raises RoundNotFound,
    LedgerError.
    """
    if not Round.objects.filter(pk=round_id).exists():
        raise RoundNotFound(round_id)
    void, is_new = Void.objects.get_or_create(round_id=round_id, defaults={"reason": reason, "by": by})
    if is_new:
        keep_parts(void, undo_round(round_id))
    return void


PARTS = """
INSERT INTO games_voidpart (void_id, player_id, currency, returned, shortfall)
SELECT %(round)s, player_id, coalesce(undone.currency, part.currency), coalesce(undone.returned, 0),
    coalesce(undone.shortfall, 0)
FROM (SELECT player_id, currency FROM games_participation WHERE round_id = %(round)s) AS part
FULL JOIN unnest(%(players)s::bigint[], %(currencies)s::text[], %(returned)s::bigint[], %(shortfalls)s::bigint[])
    AS undone (player_id, currency, returned, shortfall) USING (player_id)
"""


def keep_parts(void: Void, undone: Sequence[Undone]) -> None:
    """Store what the void did to each player and record it.

    Includes players of the round without an entry in the ledger.
    """
    values = {
        "round": void.pk,
        "players": [part.player_id for part in undone],
        "currencies": [part.currency for part in undone],
        "returned": [part.returned for part in undone],
        "shortfalls": [part.shortfall for part in undone],
    }
    with connection.cursor() as cursor:
        cursor.execute(PARTS, values)
        cursor.execute("SELECT games_void_digest(%(round)s), games_void_facts(%(round)s)::text", values)
        digest, facts = cursor.fetchone()
    data = _described(void, undone) | {"sha256": digest, "round": json.loads(facts)}
    log.record("round.voided", by=void.by, on=f"round:{void.pk}", data=data)


def _described(void: Void, undone: Sequence[Undone]) -> dict[str, Json]:
    """Name the players up to `MOST_NAMED`; ``sha256`` covers one line for every player of the round."""
    return {
        "cards": void.round.cards,
        "count": len(undone),
        "players": [
            {
                "currency": part.currency,
                "player": f"player:{part.player_id}",
                "returned": part.returned,
                "shortfall": part.shortfall,
            }
            for part in undone[:MOST_NAMED]
        ],
        "reason": str(void.reason),
    }


INSERT_NOTICES = """
WITH notice AS (
    INSERT INTO games_voidnotice (part_id, at)
    SELECT part.id, clock_timestamp()
    FROM games_voidpart AS part
    JOIN games_round AS round ON round.id = part.void_id
    JOIN games_tableversion AS version ON version.id = round.table_version_id
    WHERE part.player_id = %s AND version.table_id = %s AND round.mode = %s
      AND NOT EXISTS (SELECT FROM games_voidnotice AS notice WHERE notice.part_id = part.id)
    ON CONFLICT DO NOTHING
    RETURNING part_id
)
SELECT round.id, round.code, void.reason FROM notice
JOIN games_voidpart AS part ON part.id = notice.part_id JOIN games_round AS round ON round.id = part.void_id
JOIN games_void AS void ON void.round_id = round.id
ORDER BY round.at
"""


HAS_NOTICES = """
SELECT EXISTS (SELECT FROM games_voidpart AS part WHERE part.player_id = %s
    AND NOT EXISTS (SELECT FROM games_voidnotice AS notice WHERE notice.part_id = part.id)) AS has_void_notices
"""  # whether `take_void_notices` may find any, at this table or another


def take_void_notices(player: Player, table_id: int, mode: Mode) -> tuple[tuple[UUID, str, str], ...]:
    """Return id, code and reason of voided rounds at this table that the player has not been
    notified of, oldest first.

    Marks them as notified. The statement is fixed, because every page of a table runs it.
    """
    with connection.cursor() as cursor:
        cursor.execute(INSERT_NOTICES, [player.pk, table_id, mode.value])
        return tuple(cursor.fetchall())

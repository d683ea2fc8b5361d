"""The one way to annul a round: what it moved is moved back, and whoever played it is told.

A round is annulled only where its seed does not reproduce it (`games.replay`). No person can ask for it.
"""

from uuid import UUID

from django.db import connection, transaction

from audit import log
from games.models import Participation, Round, Void, VoidPart, VoidReason
from players.models import Player
from wallet.annulment import Undone, undo_round
from wallet.models import Mode


class RoundNotFound(LookupError):
    """There is no such round."""


@transaction.atomic
def void_round(*, round_id: UUID, reason: VoidReason, by: str) -> Void:
    """Annul a settled round: every stake goes back, every payout is taken back, and the players are told. Idempotent:
    the second call returns the first one's void and moves nothing.

    Locks the round (by the row of its void, for which a second caller waits), then accounts ascending by id; whoever
    closes the table as well does that first. Raises RoundNotFound, LedgerError.
    """
    if not Round.objects.filter(pk=round_id).exists():
        raise RoundNotFound(round_id)
    void, is_new = Void.objects.get_or_create(round_id=round_id, defaults={"reason": reason, "by": by})
    if is_new:
        undone = undo_round(round_id)
        _store_parts(void, undone)
        log.record(
            "round.voided",
            by=by,
            on=f"round:{round_id}",
            data={
                "players": [
                    {
                        "currency": part.currency,
                        "player": part.player_id,
                        "returned": part.returned,
                        "shortfall": part.shortfall,
                    }
                    for part in undone
                ],
                "reason": str(reason),
            },
        )
    return void


def _store_parts(void: Void, undone: tuple[Undone, ...]) -> None:
    """Keep what was done to each player, those of the round included whom the ledger does not know."""
    parts = {
        part.player_id: VoidPart(
            void=void,
            player_id=part.player_id,
            currency=part.currency,
            returned=part.returned,
            shortfall=part.shortfall,
        )
        for part in undone
    }
    for player_id, currency in Participation.objects.filter(round_id=void.pk).values_list("player_id", "currency"):
        unmoved = VoidPart(void=void, player_id=player_id, currency=currency, returned=0, shortfall=0)
        parts.setdefault(player_id, unmoved)
    VoidPart.objects.bulk_create(parts.values())


TELL = """
WITH told AS (
    INSERT INTO games_voidtold (part_id, at)
    SELECT part.id, clock_timestamp()
    FROM games_voidpart AS part
    JOIN games_round AS round ON round.id = part.void_id
    JOIN games_tableversion AS version ON version.id = round.table_version_id
    WHERE part.player_id = %s AND version.table_id = %s AND round.mode = %s
      AND NOT EXISTS (SELECT FROM games_voidtold AS told WHERE told.part_id = part.id)
    ON CONFLICT DO NOTHING
    RETURNING part_id
)
SELECT round.id, round.code FROM told
JOIN games_voidpart AS part ON part.id = told.part_id JOIN games_round AS round ON round.id = part.void_id
ORDER BY round.at
"""


def tell(player: Player, table_id: int, mode: Mode) -> tuple[tuple[UUID, str], ...]:
    """Return id and code of the rounds at this table whose annulment the player has not been told of, oldest first,
    and count them as told.

    A fixed statement, since every page of a table asks.
    """
    with connection.cursor() as cursor:
        cursor.execute(TELL, [player.pk, table_id, mode.value])
        return tuple(cursor.fetchall())

"""Void a round of a live table in any phase: return every stake, store the round, notify the players.

`games.shared.malfunction` decides who may void a round, and when. `games.rounds.void` holds the
part shared with solo tables. `games.chemin.coups.void` voids coups of Chemin de Fer.
"""

from uuid import UUID

from django.db import connection, transaction

from games.chemin.coups.void import void_coup
from games.models import OPEN_PHASES, LiveRound, Phase, Shape, Void, VoidReason
from games.rounds.database_refusals import round_refusals
from games.rounds.void import RoundNotFound, keep_parts, void_round
from games.shared import rounds, shoes
from players import notify
from wallet.ledger.round_reversal import Undone, undo_round

HELD = """
SELECT account.owner_id, account.currency, hold.amount
FROM wallet_hold AS hold JOIN wallet_account AS account ON account.id = hold.account_id
WHERE hold.round_id = %s ORDER BY account.id
"""

STORE = "SELECT games_store_void_round(%s::uuid, %s::text, %s::text)"


@transaction.atomic
def void_live_round(*, round_id: UUID, reason: VoidReason, by: str) -> LiveRound:
    """Void a round of a live table. Idempotent: the second call moves no money.

    Before the deal, what is held is released and stakes go back. After it, every posting of the
    round is reversed and its shoe is retired. Locks the round, then accounts by ascending id; at
    Chemin de Fer the table first. Raises RoundNotFound, AnotherCoup, LedgerError.
    """
    rounds.read_by_key()
    coup = LiveRound.objects.filter(pk=round_id, live_table__table__shape=Shape.CHEMIN).first()
    if coup is not None:
        return void_coup(live_round=coup, reason=reason, by=by)
    live = LiveRound.objects.select_for_update().filter(pk=round_id).first()
    if live is None:
        raise RoundNotFound(round_id)
    if live.phase in OPEN_PHASES:
        is_dealt = live.phase == Phase.DEALT
        _void(live, reason, by)
        rounds.end_void(live)
        if is_dealt or not shoes.is_sound(live.shoe):
            shoes.retire(live.shoe)
    elif live.phase == Phase.SETTLED:
        void_round(round_id=round_id, reason=reason, by=by)
        shoes.retire(live.shoe)
    notify.notify_table(live.live_table_id)
    return live


def _void(live: LiveRound, reason: VoidReason, by: str) -> None:
    """Return what was held or staked, and store the round if it had bets. Storing it releases what is held."""
    undone = (*_held(live.pk), *undo_round(live.pk))
    if _store(live, reason, by):
        keep_parts(Void.objects.get(pk=live.pk), undone)


def _held(round_id: UUID) -> tuple[Undone, ...]:
    with connection.cursor() as cursor:
        cursor.execute(HELD, [round_id])
        return tuple(Undone(player, currency, amount, 0) for player, currency, amount in cursor.fetchall())


def _store(live: LiveRound, reason: VoidReason, by: str) -> bool:
    """Store the round with its void, and return whether it had bets."""
    with round_refusals(), connection.cursor() as cursor:
        cursor.execute(STORE, [live.pk, reason.value, by])
        (had_bets,) = cursor.fetchone()
    return bool(had_bets)

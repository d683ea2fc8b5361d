"""Void a round of a live table in any phase: return every stake, store the round, notify the players.

`games.shared.malfunction` decides who may void a round, and when. `games.rounds.void` holds the
part shared with solo tables. `games.chemin.void` voids coups of Chemin de Fer.
"""

from uuid import UUID

from django.db import connection, transaction

from games.chemin.void import void_coup
from games.engine.cards import Card, CardError
from games.engine.coup import TooFewCards, deal
from games.models import OPEN_PHASES, LiveRound, Phase, Shape, Void, VoidReason
from games.raw_rows import Value
from games.rounds.insert import INSERT
from games.rounds.void import RoundNotFound, keep_parts, void_round
from games.shared import rounds, shoes
from games.tables import notify
from wallet.ledger import holds
from wallet.ledger.round_reversal import Undone, undo_round

HELD = """
SELECT account.owner_id, account.currency, hold.amount
FROM wallet_hold AS hold JOIN wallet_account AS account ON account.id = hold.account_id
WHERE hold.round_id = %s ORDER BY account.id
"""

# Insert the whole round in one statement over all bettors. Balances are the ledger's: before the
# stakes were posted, where they were, and after their return. `games.shared.settlement` says why
# FULL JOIN.
KEEP = f"""
WITH seat AS (
    SELECT account_id, player_id, currency, session, stakes FROM games_liveseat
    WHERE round_id = %(round)s AND live_table_id = %(live_table)s AND stakes <> '{{}}'
), before AS (
    SELECT entry.account_id, entry.balance_after - entry.amount AS balance
    FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
    WHERE journal.round_id = %(round)s AND journal.kind = 'held_stake'
), side AS MATERIALIZED (
    SELECT player_id, currency, session, stakes, before.balance AS balance_before,
        (SELECT account.balance FROM wallet_account AS account WHERE account.id = seat.account_id) AS balance
    FROM seat FULL JOIN before USING (account_id)
), slip AS MATERIALIZED (
    SELECT nextval('games_participation_id_seq') AS id, side.*,
        (SELECT sum(bet.stake::bigint) FROM jsonb_each_text(side.stakes) AS bet (bet, stake)) AS staked
    FROM side WHERE player_id IS NOT NULL
), new_round AS (
    SELECT live.id, live.code, live.version_id AS table_version_id, %(mode)s::text AS mode, shoe.commitment,
        NULL::bytea AS seed, shoe.id AS shoe_id, live.first_card, '' AS player_value, live.cards,
        %(outcome)s::text AS outcome, clock_timestamp() AS at, false AS is_replay_due
    FROM games_liveround AS live JOIN games_shoe AS shoe ON shoe.id = live.shoe_id
    WHERE live.id = %(round)s AND EXISTS (SELECT FROM slip)
), new_part AS (
    SELECT id, player_id, currency, coalesce(balance_before, balance) AS balance_before, balance AS balance_after,
        staked, 0 AS paid, 0 AS commission, session
    FROM slip ORDER BY player_id
), new_wager AS (
    SELECT slip.id AS part_id, bet.bet, bet.stake::bigint AS stake, 0 AS payout, 0 AS commission, 'void' AS result
    FROM slip, jsonb_each_text(slip.stakes) AS bet (bet, stake)
), {INSERT}
SELECT count(*) FROM round
"""  # noqa: S608  (nothing but statements of our own)


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
    """Return what was held or staked, and store the round if it had bets."""
    undone = (*_held(live.pk), *undo_round(live.pk))
    holds.release_all(live.pk)
    if _keep(live):
        keep_parts(Void.objects.create(round_id=live.pk, reason=reason, by=by), undone)


def _held(round_id: UUID) -> tuple[Undone, ...]:
    with connection.cursor() as cursor:
        cursor.execute(HELD, [round_id])
        return tuple(Undone(player, currency, amount, 0) for player, currency, amount in cursor.fetchall())


def _keep(live: LiveRound) -> bool:
    """Insert the round and return whether it had bets."""
    live_table = live.live_table
    values: dict[str, Value] = {
        "round": live.pk,
        "live_table": live_table.pk,
        "mode": live_table.mode,
        "outcome": _outcome(live.cards),
    }
    with connection.cursor() as cursor:
        cursor.execute(KEEP, values)
        (kept,) = cursor.fetchone()
    return bool(kept)


def _outcome(cards: str) -> str:
    """Return the outcome of the cards; empty where there are no cards, or they make no coup."""
    try:
        return str(deal([Card.parse(code) for code in cards.split()]).outcome)
    except (CardError, TooFewCards):
        return ""

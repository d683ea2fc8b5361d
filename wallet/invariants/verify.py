"""Verify the ledger's invariants. Each query returns the rows that break it; no row means that it holds."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from wallet import invariants
from wallet.invariants import Invariant, chemin

STUDIOS = Invariant(
    "studios_move_what_they_said",
    "each journal of a studio's game is the one that a transaction says, each transaction is booked, and no win stands"
    " without a bet",
    """
    SELECT format('journal %s: no transaction of a studio says this %s', j.id, j.kind)
    FROM wallet_journal AS j
    WHERE j.kind IN ('studio_stake', 'studio_win', 'studio_rollback') AND NOT wallet_studio_moves_so(j.id)
    UNION ALL
    SELECT format('journal %s: this %s moves the account of studios', j.id, j.kind)
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'studio' AND j.kind NOT IN ('studio_stake', 'studio_win', 'studio_rollback')
    UNION ALL
    SELECT format('transaction %s of partner %s: not in the ledger: %s', t.transaction, t.partner_id, missing.what)
    FROM wallet_studio_transaction AS t CROSS JOIN wallet_studio_unbooked(t) AS missing (what)
    WHERE missing.what IS NOT NULL
    UNION ALL
    SELECT format('transaction %s of partner %s: a win without a bet', t.transaction, t.partner_id)
    FROM wallet_studio_transaction AS t
    WHERE t.operation = 'win' AND t.win > 0 AND NOT wallet_studio_taken_back(t.partner_id, t.transaction)
      AND NOT wallet_studio_has_bet(t, '')
    """,
)


OPERATORS = Invariant(
    "operators_rounds_are_booked",
    "what an operator's player plays with comes with a bet that is played and goes back with its win, each booked once;"
    " nothing moves operators' account besides, and nothing of it is left with the player",
    """
    SELECT format('bet %s: is played, and its stake is not booked as it says', b.id)
    FROM wallet_remote_bet AS b
    WHERE b.state = 'played' AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'remote_bet'
        WHERE k.key = b.id AND wallet_remote_moves_so(j.id))
    UNION ALL
    SELECT format('message %s: its win of %s is not booked as it says', m.id, m.amount)
    FROM wallet_remote_message AS m
    WHERE m.kind = 'win' AND m.amount > 0 AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'remote_back'
        WHERE k.key = m.transaction AND wallet_remote_moves_so(j.id))
    UNION ALL
    SELECT format('bet %s: is %s, and the operator is not told', b.id, b.state)
    FROM wallet_remote_bet AS b
    WHERE b.state = 'given_up' AND NOT EXISTS (
            SELECT FROM wallet_remote_message AS m WHERE m.bet_id = b.id AND m.takes_back = b.id)
       OR b.state = 'played' AND NOT EXISTS (
            SELECT FROM wallet_remote_message AS m WHERE m.bet_id = b.id AND m.kind = 'win')
    UNION ALL
    SELECT format('journal %s: moves operators'' account, and no round of theirs says so', e.journal_id)
    FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
    WHERE CASE a.kind WHEN 'operator' THEN NOT wallet_remote_moves_so(e.journal_id) END  -- asked of no other entry
    UNION ALL
    SELECT format('account %s: %s of an operator''s money is left with player %s', a.id, a.balance, p.id)
    FROM players_player AS p JOIN wallet_account AS a ON a.owner_id = p.id AND a.mode = 'R'
    WHERE p.is_remote AND a.balance <> 0
    UNION ALL
    SELECT format('round %s: is taken back, and the operator is not told of both its transactions', b.round_id)
    FROM wallet_remote_bet AS b
    WHERE b.state = 'played'
      AND EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = b.round_id AND j.reverses_id IS NOT NULL)
      AND (SELECT count(*) FROM wallet_remote_message AS m WHERE m.bet_id = b.id AND m.kind = 'rollback') <> 2
    """,
)


MOST_ROWS = 100  # per broken invariant; run again after a repair

INVARIANTS = (
    invariants.SUMS,
    invariants.BALANCES,
    invariants.CHAINS,
    invariants.COVERED,
    invariants.HELD,
    invariants.KEYS,
    invariants.HOMES,
    invariants.REVERSALS,
    invariants.ADJUSTMENTS,
    invariants.ESCROW,
    invariants.PURSES,
    invariants.PENDING,
    invariants.VOIDS,
    chemin.APART,
    chemin.STAKES,
    chemin.COUPS,
    chemin.BANKS,
    chemin.HOUSE_PLAYERS,
    STUDIOS,
    OPERATORS,
    invariants.DAYS,
    invariants.PAYMENTS,
    invariants.GUARDS,
    invariants.RIGHTS,
)


@dataclass(frozen=True)
class Check:
    """The result of one invariant. ``rows`` is empty if it holds."""

    invariant: Invariant
    rows: tuple[str, ...]


def run() -> Iterator[Check]:
    """Run every query, in order, and yield its result."""
    for invariant in INVARIANTS:
        with connection.cursor() as cursor:
            cursor.execute(invariant.question, [invariant.due()] if invariant.due else None)
            yield Check(invariant, tuple(row for (row,) in cursor.fetchmany(MOST_ROWS)))

"""Verify the ledger's invariants, those of banks and stakes at Chemin de Fer included.

Each query returns the rows that break it; no row means that it holds. `wallet.invariants` checks
all accounts with a balance: it equals the sum of entries and is never negative.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from wallet import invariants
from wallet.invariants import Invariant

STAKES = Invariant(
    "stakes_are_paid_out",
    "nothing is left of the stakes of a coup once it is settled or voided",
    """
    SELECT format('coup %s: %s %s left of its stakes', a.stands_for, a.balance, a.currency)
    FROM wallet_account AS a
    WHERE a.kind = 'stakes' AND a.balance <> 0 AND EXISTS (
        SELECT FROM wallet_journal AS j
        WHERE j.round_id = a.stands_for AND (j.kind = 'settle' OR j.reverses_id IS NOT NULL))
    """,
)

APART = Invariant(
    "money_stays_with_its_owner",
    "nobody's money becomes another player's, but for what a bank loses where a coup is settled, and gets back",
    """
    WITH line AS (
        SELECT e.journal_id, e.amount, a.id AS account_id, a.kind, coalesce(a.owner_id, 0) AS owner
        FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
        WHERE e.version IS NOT NULL AND a.kind <> 'stakes'
    ), mixed AS (
        SELECT journal_id FROM line GROUP BY journal_id HAVING min(owner) <> max(owner)
    )
    SELECT format('journal %s: this %s takes from account %s and gives to account %s', j.id, j.kind, source.account_id,
                  target.account_id)
    FROM mixed JOIN wallet_journal AS j ON j.id = mixed.journal_id
    LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    JOIN line AS source ON source.journal_id = j.id AND source.amount < 0
    JOIN line AS target ON target.journal_id = j.id AND target.amount > 0 AND target.owner <> source.owner
    WHERE (was.id IS NULL AND j.kind = 'settle' AND source.kind = 'bank'
           OR was.kind = 'settle' AND target.kind = 'bank') IS NOT TRUE
    """,
)

COUPS = Invariant(
    "coups_pay_who_staked",
    "a coup pays its stakes, and what its bank loses, to that bank, to those who staked, at most twice their stake,"
    " and to the house",
    """
    WITH line AS (
        SELECT j.id AS journal_id, j.round_id, e.account_id, a.kind, e.amount, (
                   SELECT coalesce(-sum(s.amount), 0) FROM wallet_journal AS laid
                   JOIN wallet_entry AS s ON s.journal_id = laid.id AND s.account_id = e.account_id
                   WHERE laid.round_id = j.round_id AND laid.kind = 'stake') AS staked
        FROM wallet_account AS stakes
        JOIN wallet_journal AS j ON j.round_id = stakes.stands_for AND j.kind = 'settle'
        JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
        WHERE stakes.kind = 'stakes'
    )
    SELECT format('coup %s: journal %s gives account %s %s, which staked %s', round_id, journal_id, account_id, amount,
                  staked)
    FROM line
    WHERE CASE kind WHEN 'bank' THEN false WHEN 'stakes' THEN amount > 0 WHEN 'house' THEN amount < 0
               ELSE amount < 0 OR amount > 2 * staked END
    UNION ALL
    SELECT format('coup %s: journal %s is of %s banks', round_id, journal_id, count(*) FILTER (WHERE kind = 'bank'))
    FROM line GROUP BY round_id, journal_id HAVING count(*) FILTER (WHERE kind = 'bank') > 1
    UNION ALL
    SELECT format('bank %s: journal %s is the settlement of no coup', a.stands_for, j.id)
    FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
    JOIN wallet_journal AS j ON j.id = e.journal_id AND j.kind = 'settle'
    WHERE a.kind = 'bank'
      AND NOT EXISTS (SELECT FROM wallet_account AS s WHERE s.kind = 'stakes' AND s.stands_for = j.round_id)
    """,
)

BANKS = Invariant(
    "banks_go_home_once",
    "no more goes home from a bank as what was put up than was put up, and between coups it moves to and from nobody"
    " but its banker",
    """
    SELECT format('bank %s: %s was put up, %s went home of it', a.stands_for,
                  coalesce(sum(e.amount) FILTER (WHERE j.kind = 'bank'), 0),
                  -sum(e.amount) FILTER (WHERE j.kind = 'bank_back'))
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id
    JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'bank' GROUP BY a.id HAVING sum(e.amount) FILTER (WHERE j.kind IN ('bank', 'bank_back')) < 0
    UNION ALL
    SELECT format('bank %s: journal %s is a %s of %s', a.stands_for, j.id, j.kind, e.amount)
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'bank' AND j.kind IN ('bank', 'bank_back', 'bank_won')
      AND (j.round_id <> a.stands_for OR (e.amount > 0) <> (j.kind = 'bank'))
    """,
)

HOUSE_PLAYERS = Invariant(
    "house_players_play_for_nothing",
    "what house players have, and what stands for a bank of theirs, is free money",
    """
    SELECT format('account %s: a %s of nobody in %s', a.id, a.kind, a.mode) FROM wallet_account AS a
    WHERE (a.kind = 'seat' OR a.kind = 'bank' AND a.owner_id IS NULL) AND a.mode <> 'F'
    """,
)


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
    " nothing else moves operators' account, and nothing of it is left with the player",
    """
    SELECT format('bet %s: is played, and its stake is not booked as it says', b.id)
    FROM wallet_operator_bet AS b
    WHERE b.state = 'played' AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'remote_bet'
        WHERE k.key = b.id AND wallet_operator_journal_matches(j.id))
    UNION ALL
    SELECT format('message %s: its win of %s is not booked as it says', m.id, m.amount)
    FROM wallet_operator_message AS m
    WHERE m.kind = 'win' AND m.amount > 0 AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'remote_back'
        WHERE k.key = m.transaction AND wallet_operator_journal_matches(j.id))
    UNION ALL
    SELECT format('bet %s: is %s, and the operator is not told', b.id, b.state)
    FROM wallet_operator_bet AS b
    WHERE b.state = 'given_up' AND NOT EXISTS (
            SELECT FROM wallet_operator_message AS m WHERE m.bet_id = b.id AND m.takes_back = b.id)
       OR b.state = 'played' AND NOT EXISTS (
            SELECT FROM wallet_operator_message AS m WHERE m.bet_id = b.id AND m.kind = 'win')
    UNION ALL
    SELECT format('journal %s: moves operators'' account, and no round of theirs says so', e.journal_id)
    FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
    WHERE CASE a.kind WHEN 'operator' THEN NOT wallet_operator_journal_matches(e.journal_id) END
    -- asked of no other entry
    UNION ALL
    SELECT format('account %s: %s of an operator''s money is left with player %s', a.id, a.balance, p.id)
    FROM players_player AS p JOIN wallet_account AS a ON a.owner_id = p.id AND a.mode = 'R'
    WHERE p.uses_operator_wallet AND a.balance <> 0
    UNION ALL
    SELECT format('round %s: is taken back, and the operator is not told of both its transactions', b.round_id)
    FROM wallet_operator_bet AS b
    WHERE b.state = 'played'
      AND EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = b.round_id AND j.reverses_id IS NOT NULL)
      AND (SELECT count(*) FROM wallet_operator_message AS m WHERE m.bet_id = b.id AND m.kind = 'rollback') <> 2
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
    APART,
    STAKES,
    COUPS,
    BANKS,
    HOUSE_PLAYERS,
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

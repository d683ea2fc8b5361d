"""The invariants of studios' games on our balances, as questions to PostgreSQL."""

from wallet.invariants import Invariant

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

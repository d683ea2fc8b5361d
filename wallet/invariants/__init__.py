"""Invariants of the ledger as SQL queries.

Each query is one statement, so it reads the ledger as of one moment while play continues.
"""

from collections.abc import Callable
from dataclasses import dataclass

from wallet.invariants import guards


@dataclass(frozen=True)
class Invariant:
    """A condition that always holds. ``question`` selects one sentence for each row that breaks it.

    ``due`` returns the lines that ``question`` takes as its parameter, if it takes one.
    """

    name: str
    meaning: str
    question: str
    due: Callable[[], list[str]] | None = None


SUMS = Invariant(
    "journals_sum_to_zero",
    "every journal sums to zero in every currency and mode",
    """
    SELECT format('journal %s: %s %s sums to %s', journal_id, currency, mode, sum(amount))
    FROM wallet_entry GROUP BY journal_id, currency, mode HAVING sum(amount) <> 0 ORDER BY journal_id
    """,
)

BALANCES = Invariant(
    "balances_are_sums",
    "every balance is the sum of its account's entries",
    """
    SELECT format('account %s: balance %s, entries sum to %s', a.id, a.balance, coalesce(e.total, 0))
    FROM wallet_account AS a
    LEFT JOIN (SELECT account_id, sum(amount) AS total FROM wallet_entry GROUP BY account_id) AS e
        ON e.account_id = a.id
    WHERE a.balance <> coalesce(e.total, 0) ORDER BY a.id
    """,
)

CHAINS = Invariant(
    "chains_are_unbroken",
    "the entries of an account with a balance are numbered without gaps, each balance following from the one before",
    """
    SELECT format('journal %s line %s on account %s: number %s with balance %s, should be number %s with balance %s',
                  journal_id, line, account_id, version, balance_after, due_version, due_balance)
    FROM (SELECT e.journal_id, e.line, e.account_id, e.version, e.balance_after,
                 row_number() OVER chain AS due_version, sum(e.amount) OVER chain AS due_balance
          FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
          WHERE a.balance IS NOT NULL WINDOW chain AS (PARTITION BY e.account_id ORDER BY e.version)) AS e
    WHERE version IS DISTINCT FROM due_version OR balance_after IS DISTINCT FROM due_balance
    UNION ALL
    SELECT format('journal %s line %s on account %s: the house keeps no balance there', e.journal_id, e.line, a.id)
    FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
    WHERE a.balance IS NULL AND (e.version IS NOT NULL OR e.balance_after IS NOT NULL)
    UNION ALL
    SELECT format('account %s: version %s, %s entries', a.id, a.version, coalesce(e.count, 0))
    FROM wallet_account AS a
    LEFT JOIN (SELECT account_id, count(*) AS count FROM wallet_entry GROUP BY account_id) AS e ON e.account_id = a.id
    WHERE a.balance IS NOT NULL AND a.version <> coalesce(e.count, 0)
    """,
)

COVERED = Invariant(
    "nothing_is_negative",
    "no balance is or was below zero, nor below what is held on it",
    """
    SELECT format('account %s: balance %s, held %s', id, balance, held) FROM wallet_account
    WHERE balance < held OR held < 0 OR balance < 0
    UNION ALL
    SELECT format('journal %s line %s on account %s: balance %s', journal_id, line, account_id, balance_after)
    FROM wallet_entry WHERE balance_after < 0
    """,
)

HELD = Invariant(
    "holds_are_sums",
    "what is held on an account is the sum of its holds",
    """
    SELECT format('account %s: held %s, holds sum to %s', a.id, a.held, coalesce(h.total, 0))
    FROM wallet_account AS a
    LEFT JOIN (SELECT account_id, sum(amount) AS total FROM wallet_hold GROUP BY account_id) AS h ON h.account_id = a.id
    WHERE a.held <> coalesce(h.total, 0) ORDER BY a.id
    """,
)

KEYS = Invariant(
    "keys_match_journals",
    "every journal has its posting key and every posting key its journal, with the hash of what was asked for",
    """
    SELECT format('posting key %s: has no journal %s', k.key, k.journal_id) FROM wallet_posting_key AS k
    WHERE NOT EXISTS (SELECT FROM wallet_journal AS j WHERE j.id = k.journal_id AND j.key = k.key)
    UNION ALL
    SELECT format('journal %s: its posting key %s is missing or names another journal', j.id, j.key)
    FROM wallet_journal AS j
    WHERE NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = j.key AND k.journal_id = j.id)
    UNION ALL
    SELECT format('journal %s: its hash is not that of posting key %s', j.id, j.key)
    FROM wallet_journal AS j JOIN wallet_posting_key AS k ON k.key = j.key AND k.journal_id = j.id
    WHERE j.request_hash <> k.request_hash
    UNION ALL
    SELECT format('journal %s: its hash is not that of its contents', j.id)
    FROM wallet_journal AS j
    LEFT JOIN (SELECT journal_id, array_agg(account_id ORDER BY line)::text AS accounts,
                      array_agg(amount ORDER BY line)::text AS amounts
               FROM wallet_entry GROUP BY journal_id) AS e ON e.journal_id = j.id
    WHERE j.request_hash IS DISTINCT FROM
        wallet_request_hash(j.kind, j.round_id, j.reverses_id, e.accounts, e.amounts)
    """,
)

HOMES = Invariant(
    "entries_have_homes",
    "every entry belongs to a journal and to an account of its currency and mode; lines count from 1",
    """
    SELECT format('journal %s line %s: there is no such journal', e.journal_id, e.line) FROM wallet_entry AS e
    WHERE NOT EXISTS (SELECT FROM wallet_journal AS j WHERE j.id = e.journal_id)
    UNION ALL
    SELECT format('journal %s: has no entries', j.id) FROM wallet_journal AS j
    WHERE NOT EXISTS (SELECT FROM wallet_entry AS e WHERE e.journal_id = j.id)
    UNION ALL
    SELECT format('journal %s line %s: %s %s on account %s, which is %s %s',
                  e.journal_id, e.line, e.currency, e.mode, e.account_id, a.currency, a.mode)
    FROM wallet_entry AS e LEFT JOIN wallet_account AS a ON a.id = e.account_id
    WHERE (e.currency, e.mode) IS DISTINCT FROM (a.currency, a.mode)
    UNION ALL
    SELECT format('journal %s: lines %s to %s, %s in all', journal_id, min(line), max(line), count(*))
    FROM wallet_entry GROUP BY journal_id HAVING min(line) <> 1 OR max(line) <> count(*)
    """,
)

REVERSALS = Invariant(
    "reversals_are_exact",
    "a journal is reversed at most once, by its exact opposite, for the same round",
    """
    SELECT format('journal %s: reversed %s times', reverses_id, count(*))
    FROM wallet_journal WHERE reverses_id IS NOT NULL GROUP BY reverses_id HAVING count(*) > 1
    UNION ALL
    SELECT format('journal %s: is not the opposite of journal %s', j.id, j.reverses_id)
    FROM wallet_journal AS j LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    WHERE j.reverses_id IS NOT NULL AND (
        was.id IS NULL OR was.round_id IS DISTINCT FROM j.round_id
        OR (SELECT array_agg((line, account_id, -amount) ORDER BY line)
            FROM wallet_entry WHERE journal_id = was.id)
           IS DISTINCT FROM
           (SELECT array_agg((line, account_id, amount) ORDER BY line) FROM wallet_entry WHERE journal_id = j.id))
    UNION ALL
    SELECT format('journal %s: reversed by journal %s, and could be reversed again', j.reverses_id, j.id)
    FROM wallet_journal AS j LEFT JOIN wallet_reversal AS r ON r.journal_id = j.reverses_id AND r.by_id = j.id
    WHERE j.reverses_id IS NOT NULL AND r.journal_id IS NULL
    UNION ALL
    SELECT format('journal %s: does not reverse journal %s, as is written down', r.by_id, r.journal_id)
    FROM wallet_reversal AS r LEFT JOIN wallet_journal AS j ON j.id = r.by_id
    WHERE j.reverses_id IS DISTINCT FROM r.journal_id
    """,
)

ADJUSTMENTS = Invariant(
    "adjustments_are_approved",
    "balances are put right, and the house's account for it moves, only as an approved request says, once",
    """
    SELECT format('journal %s: nobody agreed on this adjustment', j.id)
    FROM wallet_journal AS j WHERE j.kind = 'adjustment' AND NOT wallet_adjusts_so(j.id)
    UNION ALL
    SELECT format('journal %s: this %s is no adjustment', j.id, j.kind)
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'adjusted' AND j.kind <> 'adjustment'
    UNION ALL
    SELECT format('approval %s: its adjustment is not in the ledger', of.approval_id) FROM wallet_adjustment AS of
    WHERE NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = of.key AND wallet_adjusts_so(k.journal_id))
    """,
)

ESCROW = Invariant(
    "escrow_is_empty",
    "what a round took into escrow it has given out again, to the last minor unit; stakes of a shared table lie there"
    " from the close of betting until its round is over",
    """
    SELECT format('round %s: %s %s left in escrow: %s',
                  coalesce(j.round_id::text, 'none'), e.currency, e.mode, sum(e.amount))
    FROM wallet_entry AS e
    JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'escrow'
    JOIN wallet_journal AS j ON j.id = e.journal_id
    GROUP BY j.round_id, e.currency, e.mode
    HAVING sum(e.amount) <> 0 AND NOT (
        sum(e.amount) > 0 AND EXISTS (
            SELECT FROM games_liveround AS played WHERE played.id = j.round_id AND played.phase IN ('closed', 'dealt')))
    """,
)

PURSES = Invariant(
    "purses_stay_with_their_owner",
    "what fills a purse and what it gives back passes between the cash and the purse of one player",
    """
    SELECT format('journal %s: this %s is not between the cash and the purse of one player', j.id, j.kind)
    FROM wallet_journal AS j
    JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
    WHERE j.kind IN ('rebuy', 'leave') GROUP BY j.id
    HAVING count(DISTINCT a.owner_id) <> 1
        OR array_agg(a.kind::text ORDER BY a.kind) IS DISTINCT FROM ARRAY['cash', 'purse']
    """,
)

PENDING = Invariant(
    "pending_is_what_was_asked_for",
    "what lies pending is the sum of a player's open withdrawals, and each that has ended was paid or given back once",
    """
    SELECT format('player %s: %s %s pending, open withdrawals sum to %s',
                  coalesce(a.player_id, w.player_id), coalesce(a.currency, w.currency), coalesce(a.balance, 0),
                  coalesce(w.total, 0))
    FROM (SELECT owner_id AS player_id, currency, balance FROM wallet_account WHERE kind = 'pending') AS a
    FULL JOIN (SELECT player_id, currency, sum(amount) AS total FROM wallet_withdrawal
               WHERE status IN ('requested', 'seconding', 'approved', 'sending') GROUP BY player_id, currency) AS w
        USING (player_id, currency)
    WHERE coalesce(a.balance, 0) <> coalesce(w.total, 0)
    UNION ALL
    SELECT format('withdrawal %s is %s, its journals are %s', w.id, w.status, j.kinds)
    FROM wallet_withdrawal AS w
    LEFT JOIN LATERAL (
        SELECT string_agg(j.kind, ', ' ORDER BY s.id) AS kinds
        FROM wallet_withdrawal_step AS s JOIN wallet_journal AS j ON j.id = s.journal_id
        WHERE s.withdrawal_id = w.id
          AND (SELECT max(e.amount) FROM wallet_entry AS e WHERE e.journal_id = j.id) = w.amount) AS j ON true
    WHERE j.kinds IS DISTINCT FROM CASE WHEN w.status = 'paid' THEN 'withdraw, withdraw_paid'
        WHEN w.status IN ('returned', 'refused', 'cancelled') THEN 'withdraw, withdraw_returned' ELSE 'withdraw' END
    """,
)

VOIDS = Invariant(
    "voids_are_whole",
    "a round is taken back whole or not at all, and the house covers a shortfall only where one is taken back",
    """
    SELECT format('round %s: journal %s is not reversed, others are', j.round_id, j.id)
    FROM wallet_journal AS j
    WHERE j.round_id IN (SELECT round_id FROM wallet_journal WHERE reverses_id IS NOT NULL)
      AND j.reverses_id IS NULL AND j.kind NOT IN ('void_shortfall', 'void_transfer')
      AND NOT EXISTS (SELECT FROM wallet_journal AS r WHERE r.reverses_id = j.id)
    UNION ALL
    SELECT format('journal %s: this %s is for a round that is not taken back', j.id, j.kind)
    FROM wallet_journal AS j
    WHERE j.kind IN ('void_shortfall', 'void_transfer')
      AND NOT EXISTS (SELECT FROM wallet_journal AS r
                      WHERE r.round_id = j.round_id AND r.reverses_id IS NOT NULL)
    """,
)

PAYMENTS = Invariant(
    "payments_are_credited_exactly",
    "a payment is credited once, with its own amount, to its own player; one that is not credited has moved nothing",
    """
    SELECT format('payment %s: %s, and journal %s does not say so', p.id, p.state, p.journal_id)
    FROM wallet_payment AS p LEFT JOIN wallet_journal AS j ON j.id = p.journal_id
    LEFT JOIN wallet_entry AS e ON e.journal_id = j.id
          AND e.account_id IN (SELECT id FROM wallet_account WHERE owner_id = p.player_id AND kind = 'cash')
    WHERE p.state = 'credited'
      AND (j.kind, e.amount, e.currency, e.mode) IS DISTINCT FROM ('deposit', p.amount, p.currency, 'R')
    UNION ALL
    SELECT format('journal %s: credits %s payments', p.journal_id, count(*))
    FROM wallet_payment AS p WHERE p.journal_id IS NOT NULL GROUP BY p.journal_id HAVING count(*) > 1
    """,
)

DAYS = Invariant(
    "days_are_sums",
    "what counts against limits on each day is what the journals of that day moved into players' hands and out of them,"
    " reversals on the day of what they reverse, and what is taken back on the day when it was put down",
    """
    SELECT format('player %s on %s: counted %s, should be %s', player_id, day,
                  (d.deposited, d.withdrawn, d.staked, d.paid), (due.deposited, due.withdrawn, due.staked, due.paid))
    FROM wallet_due_days() AS due FULL JOIN wallet_day AS d USING (player_id, day)
    WHERE (d.deposited, d.withdrawn, d.staked, d.paid)
          IS DISTINCT FROM (due.deposited, due.withdrawn, due.staked, due.paid)
    """,
)

GUARDS = Invariant(
    "guards_stand",
    "the constraints, indexes, triggers and functions that keep all this are there, as they were made, and in force",
    guards.MISSING,
    lambda: guards.due()[0],
)

RIGHTS = Invariant(
    "nobody_writes_past_the_door",
    "the role that asks, that of web and workers, may do here what its work needs and no more",
    guards.BEYOND,
    lambda: guards.due()[1],
)

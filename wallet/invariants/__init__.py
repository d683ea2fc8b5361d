"""Invariants of the ledger.

Those of journals, entries and accounts are verified by the functions in
``sql/functions/verification.sql``, the others by queries. Each query is one statement, so it reads
the ledger as of one moment while play continues.
"""

from collections.abc import Callable
from dataclasses import dataclass

from wallet.invariants import guards


@dataclass(frozen=True)
class Invariant:
    """A condition that always holds. ``question`` selects one sentence for each row that breaks it;
    it is empty where a function of the database verifies it.

    ``due`` returns the lines that ``question`` takes as its parameter, if it takes one.
    """

    name: str
    meaning: str
    question: str = ""
    due: Callable[[], list[str]] | None = None


SUMS = Invariant(
    "journals_sum_to_zero",
    "every journal sums to zero in every currency and mode",
)

BALANCES = Invariant(
    "balances_are_sums",
    "every balance is the sum of its account's entries",
)

CHAINS = Invariant(
    "chains_are_unbroken",
    "the entries of an account with a balance are numbered without gaps, each balance following from the one before",
)

COVERED = Invariant(
    "nothing_is_negative",
    "no balance is or was below zero, nor below what is held on it",
    """
    SELECT format('account %s: balance %s, held %s', id, balance, held) FROM wallet_account
    WHERE balance < held OR held < 0 OR balance < 0
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

KINDS = Invariant(
    "journals_are_of_a_known_kind",
    "every journal has one of the kinds that exist, and moves only accounts that its kind may move, in its direction",
)

STAY = Invariant(
    "verified_rows_stay",
    "rows that were verified have not changed since",
)

KEYS = Invariant(
    "keys_match_journals",
    "every journal has its posting key and every posting key its journal, with the hash of what was asked for",
)

HOMES = Invariant(
    "entries_have_homes",
    "every entry belongs to a journal and to an account of its currency and mode; lines count from 1",
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
    SELECT format('journal %s: does not reverse journal %s, but is recorded as its reversal', r.by_id, r.journal_id)
    FROM wallet_reversal AS r LEFT JOIN wallet_journal AS j ON j.id = r.by_id
    WHERE j.reverses_id IS DISTINCT FROM r.journal_id
    """,
)

ADJUSTMENTS = Invariant(
    "adjustments_are_approved",
    "balances are put right, and the house's account for it moves, only as an approved request says, once",
    """
    SELECT format('journal %s: this adjustment was not approved', j.id)
    FROM wallet_journal AS j WHERE j.kind = 'adjustment' AND NOT wallet_adjusts_so(j.id)
    UNION ALL
    SELECT format('journal %s: this %s is not an adjustment', j.id, j.kind)
    FROM wallet_journal AS j
    JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
    WHERE j.kind NOT IN ('stake', 'settle') AND j.kind <> 'adjustment' AND a.kind = 'adjusted'
    UNION ALL
    SELECT format('approval %s: its adjustment is not in the ledger', of.approval_id) FROM wallet_adjustment AS of
    WHERE NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = of.key AND wallet_adjusts_so(k.journal_id))
    """,
)

ESCROW = Invariant(
    "escrow_is_empty",
    "what a round took into escrow it has given out again, to the last minor unit",
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
    "the pending money is the sum of a player's open withdrawals, and each that has ended was paid or returned once",
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
    "a payment is credited, held or sent back once, with its own amount, and of its own player; others moved nothing",
    """
    SELECT format('payment %s: %s, but journal %s does not record it', p.id, p.state, due.journal)
    FROM wallet_payment AS p CROSS JOIN LATERAL (VALUES
        (p.journal_id, CASE WHEN p.state = 'returned' THEN 'deposit_returned'
                            WHEN p.held_journal_id IS NULL THEN 'deposit' ELSE 'deposit_released' END,
         CASE WHEN p.state = 'returned' THEN 'refund' ELSE 'cash' END,
         CASE WHEN p.state = 'returned' THEN -p.amount ELSE p.amount END, p.state IN ('credited', 'returned')),
        (p.held_journal_id, 'deposit_held', 'refund', p.amount, p.held_because <> '')
    ) AS due (journal, kind, account, amount, is_due)
    LEFT JOIN wallet_journal AS j ON j.id = due.journal
    LEFT JOIN wallet_entry AS e ON e.journal_id = j.id
          AND e.account_id IN (SELECT id FROM wallet_account WHERE owner_id = p.player_id AND kind = due.account)
    WHERE due.is_due AND (j.kind, e.amount, e.currency, e.mode) IS DISTINCT FROM (due.kind, due.amount, p.currency, 'R')
    UNION ALL
    SELECT format('journal %s: moves %s payments', due.journal, count(*))
    FROM wallet_payment AS p CROSS JOIN LATERAL (VALUES (p.journal_id), (p.held_journal_id)) AS due (journal)
    WHERE due.journal IS NOT NULL GROUP BY due.journal HAVING count(*) > 1
    UNION ALL
    SELECT format('player %s: %s %s to be sent back, held payments sum to %s',
                  coalesce(a.player_id, p.player_id), coalesce(a.balance, 0), coalesce(a.currency, p.currency),
                  coalesce(p.total, 0))
    FROM (SELECT owner_id AS player_id, currency, balance FROM wallet_account WHERE kind = 'refund') AS a
    FULL JOIN (SELECT player_id, currency, sum(amount) AS total FROM wallet_payment WHERE state = 'held'
               GROUP BY player_id, currency) AS p USING (player_id, currency)
    WHERE coalesce(a.balance, 0) <> coalesce(p.total, 0)
    """,
)

DAYS = Invariant(
    "days_are_sums",
    "what counts against limits on each day is what the journals of that day moved into players' hands and out of them,"
    " reversals on the day of what they reverse, and what is taken back on the day when it was put down",
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

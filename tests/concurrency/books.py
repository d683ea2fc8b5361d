"""Everything that money leaves behind in the house and at its bank, counted: what an act did is a difference."""

from collections.abc import Mapping

from django.db import connection

from wallet.invariants import verify

Counts = Mapping[str, int]  # what there is, by name; money in minor units; nothing is ever zero

# Refusals are no effect: the answer to a repeated action may say that it is done. Nor is a start of the house.
COUNTS = """
SELECT kind || ' ' || mode, sum(balance) FROM wallet_account WHERE owner_id IS NOT NULL GROUP BY kind, mode
UNION ALL SELECT 'journal ' || kind, count(*) FROM wallet_journal GROUP BY kind
UNION ALL SELECT 'event ' || kind, count(*) FROM audit_event
          WHERE kind NOT IN ('approval.not_decided', 'purse.refused', 'withdrawal.not_taken', 'program.verified')
          GROUP BY kind
UNION ALL SELECT 'mail ' || template, count(*) FROM players_mail GROUP BY template
UNION ALL SELECT 'payment ' || state, count(*) FROM wallet_payment GROUP BY state
UNION ALL SELECT 'room taken', count(*) FROM wallet_reserved WHERE ended_at IS NULL
UNION ALL SELECT 'withdrawal ' || status, count(*) FROM wallet_withdrawal GROUP BY status
UNION ALL SELECT 'step ' || after, count(*) FROM wallet_withdrawal_step GROUP BY after
UNION ALL SELECT 'approval', count(*) FROM audit_approval
UNION ALL SELECT 'decision ' || verdict, count(*) FROM audit_decision GROUP BY verdict
UNION ALL SELECT 'account ' || state, count(*) FROM players_closure GROUP BY state
UNION ALL SELECT 'bank order ' || state, count(*) FROM wallet_bank_order GROUP BY state
UNION ALL SELECT 'bank payout ' || state, count(*) FROM wallet_bank_payout GROUP BY state
UNION ALL SELECT 'bank notice sent', count(*) FROM wallet_bank_notice WHERE sent_at IS NOT NULL
UNION ALL SELECT 'bank payout notice owed', count(*) FROM wallet_bank_payout_notice
UNION ALL SELECT 'bank payout notice sent', count(*) FROM wallet_bank_payout_notice WHERE sent_at IS NOT NULL
"""

# Each query selects a sentence for every difference between the house and its bank.
DISAGREEMENTS = """
SELECT format('payment %s: credited %s %s, the bank has %s %s %s',
              p.id, p.amount, p.currency, coalesce(o.state, 'nothing'), o.amount, o.currency)
FROM wallet_payment AS p LEFT JOIN wallet_bank_order AS o ON o.reference = p.id
WHERE p.state = 'credited' AND (o.state, o.amount, o.currency, o.authorisation)
      IS DISTINCT FROM ('approved', p.amount, p.currency, p.authorisation)
UNION ALL
SELECT format('withdrawal %s is %s, the bank has %s %s %s',
              w.id, w.status, coalesce(b.state, 'nothing'), b.amount, b.currency)
FROM wallet_withdrawal AS w LEFT JOIN wallet_bank_payout AS b ON b.reference = w.reference
WHERE CASE w.status WHEN 'paid' THEN b.state IS DISTINCT FROM 'paid'
                    WHEN 'returned' THEN b.state IS DISTINCT FROM 'refused'
                    WHEN 'sending' THEN false ELSE b.state IS NOT NULL END
   OR b.state IS NOT NULL AND (b.amount, b.currency) <> (w.amount, w.currency)
UNION ALL
SELECT format('the bank has an order %s of which the house knows nothing', b.reference) FROM wallet_bank_payout AS b
WHERE NOT EXISTS (SELECT FROM wallet_withdrawal AS w WHERE w.reference = b.reference)
"""


def counts() -> Counts:
    """Count everything now."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTS)
        return {name: int(number) for name, number in cursor.fetchall()}


def difference(before: Counts, after: Counts) -> Counts:
    """Return what has come and gone in between."""
    changes = {name: after.get(name, 0) - before.get(name, 0) for name in before.keys() | after.keys()}
    return {name: change for name, change in changes.items() if change}


def together(*parts: Counts) -> Counts:
    """Add differences up."""
    names = {name for part in parts for name in part}
    sums = {name: sum(part.get(name, 0) for part in parts) for name in names}
    return {name: total for name, total in sums.items() if total}


def broken() -> list[str]:
    """Return the faults of the ledger and the differences between house and bank. There must be none. It reads all that
    has been written, and so also finds faults of earlier actions.
    """
    return [f"{check.invariant.name}: {row}" for check in verify.run() for row in check.rows] + disagreements()


def disagreements() -> list[str]:
    """Return what is wrong between the house and its bank alone."""
    with connection.cursor() as cursor:
        cursor.execute(DISAGREEMENTS)
        return [message for (message,) in cursor.fetchall()]

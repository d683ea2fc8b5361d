"""Hourly snapshots of the players' accounts, for reports about the past (`wallet.reports.liability`).

The ledger has no history of held amounts, so snapshots store them.
"""

from django.db import connection

# One statement, so that all rows are from the same moment.
LOOK = """
INSERT INTO wallet_standing (at, account_kind, currency, mode, balance, held)
SELECT statement_timestamp(), kind, currency, mode, sum(balance), sum(held)
FROM wallet_account WHERE owner_id IS NOT NULL GROUP BY kind, currency, mode
ON CONFLICT DO NOTHING
"""


def look() -> None:
    """Store the current balance and held amount, summed by account kind, currency and mode.

    A repeated call is harmless.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOOK)

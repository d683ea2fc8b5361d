"""How players' accounts stand, looked up once an hour: what is held is a state of which the ledger keeps no record, and
reports of the past need it (`wallet.reports.liability`).
"""

from django.db import connection

# One statement, so that the rows are of one moment.
LOOK = """
INSERT INTO wallet_standing (at, account_kind, currency, mode, balance, held)
SELECT statement_timestamp(), kind, currency, mode, sum(balance), sum(held)
FROM wallet_account WHERE owner_id IS NOT NULL GROUP BY kind, currency, mode
ON CONFLICT DO NOTHING
"""


def look() -> None:
    """Write down what lies on players' accounts now, by kind of account, currency and mode, and what of it is held.
    Twice is harmless.
    """
    with connection.cursor() as cursor:
        cursor.execute(LOOK)

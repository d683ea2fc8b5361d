"""House accounts: one per kind, currency and mode."""

from django.db import migrations

from audit.initial_migration import RowsMigration

# Free money comes from the mint, real money from the cashier. Operators' players play only for real
# money.
HOUSE_ACCOUNTS = """
INSERT INTO wallet_account (kind, currency, mode, held, version, lock_only)
SELECT kind, currency, mode, 0, 0, false
FROM unnest(ARRAY['escrow', 'house', 'cashier', 'mint', 'adjusted', 'studio', 'operator']) AS kind,
     unnest(ARRAY['SEK', 'DKK', 'RON', 'EUR', 'GBP']) AS currency, unnest(ARRAY['R', 'F']) AS mode
WHERE NOT (kind IN ('cashier', 'operator') AND mode = 'F') AND NOT (kind = 'mint' AND mode = 'R')
"""


class Migration(RowsMigration):
    dependencies = [("wallet", "0001_initial")]
    operations = [migrations.RunSQL(HOUSE_ACCOUNTS)]

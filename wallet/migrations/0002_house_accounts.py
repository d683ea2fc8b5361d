"""The accounts of the house: one of each kind in every currency and mode, here from the start and never added to."""

from django.db import migrations

KINDS = ("escrow", "house", "cashier", "mint")
CURRENCIES = ("SEK", "DKK", "RON", "EUR", "GBP")
MODES = ("R", "F")


def _array(values: tuple[str, ...]) -> str:
    return "ARRAY[" + ", ".join(f"'{value}'" for value in values) + "]"


OPEN_ACCOUNTS = f"""
    INSERT INTO wallet_account (kind, currency, mode, held, version, lock_only)
    SELECT kind, currency, mode, 0, 0, false
    FROM unnest({_array(CURRENCIES)}) AS currency, unnest({_array(MODES)}) AS mode, unnest({_array(KINDS)}) AS kind
    WHERE NOT (kind = 'cashier' AND mode = 'F') AND NOT (kind = 'mint' AND mode = 'R')
"""


class Migration(migrations.Migration):
    dependencies = [("wallet", "0001_ledger")]
    operations = [migrations.RunSQL(OPEN_ACCOUNTS)]

"""Journals are kept in a table for each month: ``wallet/sql/0027_journals_by_months.sql``."""

from pathlib import Path

from django.db import migrations

from audit import months

RETYPED = (Path(__file__).parents[1] / "sql" / "0027_journals_by_months.sql").read_text()


# Whoever posts takes the key first, and the journal's number with it: so they wait here, and find the new numbers.
KEYS = "LOCK TABLE wallet_posting_key IN SHARE ROW EXCLUSIVE MODE"


class Migration(migrations.Migration):
    dependencies = [("wallet", "0026_entries_by_months")]
    operations = [migrations.RunSQL(each) for each in (KEYS, *months.cut_up("wallet_journal", "id"), RETYPED)]

"""Entries are kept in a table for each month: the one in which their journal is. They come first: journals have numbers
of the first month as soon as they are cut. That a number is taken, one month cannot know of another:
``wallet/sql/0026_numbers.sql``.
"""

from pathlib import Path

from django.db import migrations

from audit import months


NUMBERS = (Path(__file__).parents[1] / "sql" / "0026_numbers.sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("wallet", "0025_before_months"), ("audit", "0017_by_months")]
    operations = [migrations.RunSQL(each) for each in (*months.cut_up("wallet_entry", "journal_id"), NUMBERS)]

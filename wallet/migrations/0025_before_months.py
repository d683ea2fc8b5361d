"""All journals and entries so far come before the first month: validated beside play, so that cutting reads nothing. And
what is reversed is looked up by an index that need not be unique.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

from audit import months

STATEMENTS = (*months.comes_before("wallet_journal", "id"), *months.comes_before("wallet_entry", "journal_id"))


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("wallet", "0024_reversals")]
    operations = [
        # Where it was given up before, half an index is left.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS wallet_journal_reversed"),
        AddIndexConcurrently(
            "journal",
            models.Index(
                fields=["reverses"], name="wallet_journal_reversed", condition=models.Q(reverses__isnull=False)
            ),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveConstraint("journal", "wallet_journal_reversed_once")],
            database_operations=[
                migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS wallet_journal_reversed_once")
            ],
        ),
        *(migrations.RunSQL(statement) for statement in STATEMENTS),
    ]

"""What has been reversed stands in a table of its own, and so does what archived months came to:
``wallet/sql/0024_reversals.sql``. The unique index of what entries are numbered by stays where it is; Django knows of
those of the whole alone.
"""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("wallet", "0023_keys"), ("audit", "0014_months")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveConstraint("entry", "wallet_entry_chain")]
        ),
        migrations.CreateModel(
            name="Reversal",
            fields=[
                (
                    "journal",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="wallet.journal",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.journal",
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="ArchivedAccount",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "month", "account_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("month", models.TextField()),
                ("account_id", models.BigIntegerField()),
                ("amount", models.BigIntegerField()),
                ("entries", models.BigIntegerField()),
            ],
            options={"db_table": "wallet_archived_account", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="ArchivedJournal",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("month", models.TextField()),
                ("key", models.UUIDField()),
                ("request_hash", models.BinaryField()),
                ("kind", models.TextField()),
                ("round_id", models.UUIDField(null=True)),
                ("reverses_id", models.BigIntegerField(null=True)),
                ("at", models.DateTimeField()),
            ],
            options={
                "db_table": "wallet_archived_journal",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["month"], name="wallet_archived_journal_month"),
                    models.Index(fields=["round_id"], name="wallet_archived_journal_round"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ArchivedEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "journal_id", "line", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("journal_id", models.BigIntegerField()),
                ("line", models.IntegerField()),
                ("account_id", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("mode", models.CharField(max_length=1)),
                ("amount", models.BigIntegerField()),
                ("balance_after", models.BigIntegerField(null=True)),
                ("version", models.BigIntegerField(null=True)),
            ],
            options={"db_table": "wallet_archived_entry", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="ArchivedDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "month", "player_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("month", models.TextField()),
                ("player_id", models.BigIntegerField()),
                ("day", models.DateField()),
                ("deposited", models.BigIntegerField()),
                ("withdrawn", models.BigIntegerField()),
                ("staked", models.BigIntegerField()),
                ("paid", models.BigIntegerField()),
            ],
            options={"db_table": "wallet_archived_day", "default_permissions": ()},
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0024_reversals.sql").read_text()),
    ]

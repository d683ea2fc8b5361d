"""Money set aside for rounds whose bets are open: ``wallet/sql/0007_holds.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("wallet", "0006_withdrawals")]
    operations = [
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "round_id", "account_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("round_id", models.UUIDField()),
                ("amount", models.BigIntegerField()),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="wallet.account")),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="wallet_hold_something")
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0007_holds.sql").read_text()),
    ]

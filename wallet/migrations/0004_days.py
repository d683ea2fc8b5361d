"""What a player's real money did on each day, and the limits held to it: ``wallet/sql/0004_days.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("wallet", "0003_purse"), ("players", "0008_limits")]
    operations = [
        migrations.CreateModel(
            name="Day",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "player_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("day", models.DateField()),
                ("deposited", models.BigIntegerField(default=0)),
                ("withdrawn", models.BigIntegerField(default=0)),
                ("staked", models.BigIntegerField(default=0)),
                ("paid", models.BigIntegerField(default=0)),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="Reserved",
            fields=[
                ("key", models.UUIDField(primary_key=True, serialize=False)),
                ("amount", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at__isnull", True)), fields=["player"], name="wallet_reserved_open"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="wallet_reserved_something")
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0004_days.sql").read_text()),
    ]

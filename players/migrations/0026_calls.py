"""Calls of programs that happen once."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import audit.models.clock


class Migration(migrations.Migration):
    dependencies = [("players", "0025_tokens")]
    operations = [
        migrations.CreateModel(
            name="ApiCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=100)),
                ("request_hash", models.BinaryField()),
                ("status", models.PositiveSmallIntegerField()),
                ("body", models.TextField()),
                ("at", models.DateTimeField(db_default=audit.models.clock.Clock())),
                (
                    "token",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.apitoken",
                    ),
                ),
            ],
            options={
                "db_table": "players_api_call",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="players_api_call_at")],
                "constraints": [models.UniqueConstraint(fields=("token", "key"), name="players_api_call_once")],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0026_calls.sql").read_text()),
    ]

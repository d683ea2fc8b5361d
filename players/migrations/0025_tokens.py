"""Tokens by which programs come in: ``players/sql/0025_tokens.sql``. Compliance may have some, to read with."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models.clock
from players.roles import Duty, grant

USE = Duty("players", "apitoken", "use_tokens", "Can give tokens to programs")
ENDED = [
    ("logged out", "Logged Out"),
    ("timed out", "Idle"),
    ("ended from another session", "Elsewhere"),
    ("password changed", "Password"),
    ("account closed", "Closed"),
    ("ended by the house", "House"),
    ("token revoked", "Revoked"),
]


def let_use(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those read by program who read everything."""
    grant(apps, schema_editor.connection.alias, "compliance", USE)


class Migration(migrations.Migration):
    dependencies = [("players", "0024_lock_of_app")]
    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("start", models.CharField(max_length=14)),
                ("digest", models.BinaryField(unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("read", "Read"),
                                ("play", "Play"),
                                ("limits", "Limits"),
                                ("events", "Events"),
                                ("rounds", "Rounds"),
                                ("reports", "Reports"),
                                ("checkpoints", "Checkpoints"),
                            ],
                            max_length=20,
                        ),
                        size=None,
                    ),
                ),
                ("per_minute", models.PositiveIntegerField()),
                ("made_at", models.DateTimeField(db_default=audit.models.clock.Clock())),
                ("ends_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("used_from", models.CharField(blank=True, max_length=45)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.session",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "players_api_token",
                "default_permissions": (),
                "permissions": [("use_tokens", "Can give tokens to programs")],
                "indexes": [models.Index(fields=["user", "-id"], name="players_api_token_of")],
            },
        ),
        migrations.AlterField("session", "why", models.CharField(choices=ENDED, default="", max_length=30)),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0025_tokens.sql").read_text()),
        migrations.RunPython(let_use, migrations.RunPython.noop),
    ]

"""Notices of maintenance, to everybody: ``players/sql/0022_notices.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.roles import Duty, grant

PUBLISH = Duty("players", "notice", "publish_notices", "Can publish and withdraw notices to everybody")


def allow(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those who open and close tables, and those who rule on them, tell everybody of it."""
    for role in ("operator", "supervisor"):
        grant(apps, schema_editor.connection.alias, role, PUBLISH)


class Migration(migrations.Migration):
    dependencies = [("players", "0021_templates")]
    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("shown_from", models.DateTimeField()),
                ("shown_until", models.DateTimeField()),
                ("texts", models.JSONField()),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=300)),
                (
                    "by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.staff",
                    ),
                ),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.staff",
                    ),
                ),
            ],
            options={
                "db_table": "players_notice",
                "permissions": [("publish_notices", "Can publish and withdraw notices to everybody")],
                "default_permissions": (),
            },
        ),
        migrations.RunPython(allow, migrations.RunPython.noop),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0022_notices.sql").read_text()),
    ]

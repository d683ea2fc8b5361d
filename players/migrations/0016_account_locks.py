"""Accounts that staff lock, with a reason: ``players/sql/0016_account_locks.sql``; who may."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.roles import Duty, grant

LOCK = Duty("players", "accountlock", "lock_player", "Can lock accounts of players, and open them")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those lock accounts who look after players."""
    for role in ("compliance", "support"):
        grant(apps, schema_editor.connection.alias, role, LOCK)


class Migration(migrations.Migration):
    dependencies = [("players", "0015_notes")]

    operations = [
        migrations.CreateModel(
            name="AccountLock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("locks", models.BooleanField()),
                ("reason", models.CharField(max_length=500)),
                (
                    "by",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.staff"),
                ),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "permissions": [(LOCK.codename, LOCK.name)],
                "default_permissions": (),
                "indexes": [models.Index(fields=["player", "-id"], name="players_accountlock_of")],
                "constraints": [
                    models.CheckConstraint(condition=~models.Q(reason=""), name="players_accountlock_reason")
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0016_account_locks.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]

"""The whole house stopped: no new stake, no deposit begun (``wallet/sql/0019_stops.sql``); supervisors may stop it."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.roles import Duty, grant

STOP = Duty("wallet", "housestop", "stop_house", "Can stop the whole house, and let it go on")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let supervisors stop the house: one person is enough, since a stop takes nothing from anybody."""
    grant(apps, schema_editor.connection.alias, "supervisor", STOP)


def staff(*, null: bool = False) -> models.Field:
    """Return a column that names a member of staff."""
    return models.ForeignKey(
        db_index=False,
        null=null,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="players.staff",
    )


class Migration(migrations.Migration):
    dependencies = [("wallet", "0018_statements"), ("players", "0018_four_eyes")]

    operations = [
        migrations.CreateModel(
            name="HouseStop",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("by", staff()),
                ("reason", models.CharField(max_length=500)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", staff(null=True)),
                ("ended_reason", models.CharField(blank=True, default="", max_length=500)),
            ],
            options={
                "permissions": [(STOP.codename, STOP.name)],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(ended_at=None),
                        fields=("ended_at",),
                        name="wallet_housestop_one",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(condition=~models.Q(reason=""), name="wallet_housestop_reason"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None), ("ended_reason", "")),
                            models.Q(
                                ("ended_at__gte", models.F("at")),
                                ("ended_by__isnull", False),
                                models.Q(("ended_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="wallet_housestop_ended",
                    ),
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0019_stops.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]

"""Limits that players and the house set (``players/sql/0008_limits.sql``), and who in the house may set them."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

SET_LIMITS = Duty("players", "limitchange", "set_limits", "Can set limits for a player")
PERIODS = [("day", "Day"), ("week", "Week"), ("month", "Month")]
KINDS = [("deposit", "Deposit"), ("loss", "Loss"), ("stake", "Stake"), ("time", "Time")]


def give_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those who look after players set limits for them."""
    for role in ("compliance", "support"):
        grant(apps, schema_editor.connection.alias, role, SET_LIMITS)


class Migration(migrations.Migration):
    dependencies = [("players", "0007_service")]
    operations = [
        migrations.CreateModel(
            name="LimitChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(choices=[("player", "Player"), ("house", "House")], max_length=10)),
                ("kind", models.CharField(choices=KINDS, max_length=10)),
                ("period", models.CharField(choices=PERIODS, max_length=10)),
                ("before", models.BigIntegerField(null=True)),
                ("amount", models.BigIntegerField(null=True)),
                ("asked_at", models.DateTimeField()),
                ("effective_at", models.DateTimeField()),
                ("asked_by", models.CharField(max_length=40)),
                ("reason", models.CharField(max_length=500)),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "permissions": [("set_limits", "Can set limits for a player")],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="LimitOffer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("answered_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="limit_offer", to="players.player"
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddIndex(
            "limitchange",
            models.Index(
                models.F("player"),
                models.F("source"),
                models.F("kind"),
                models.F("period"),
                models.OrderBy(models.F("id"), descending=True),
                name="players_limit_newest",
            ),
        ),
        migrations.AddConstraint(
            "limitchange",
            models.CheckConstraint(
                condition=models.Q(("source__in", ["player", "house"])), name="players_limit_source"
            ),
        ),
        migrations.AddConstraint(
            "limitchange",
            models.CheckConstraint(
                condition=models.Q(("kind__in", ["deposit", "loss", "stake", "time"])), name="players_limit_kind"
            ),
        ),
        migrations.AddConstraint(
            "limitchange",
            models.CheckConstraint(
                condition=models.Q(("period__in", ["day", "week", "month"])), name="players_limit_period"
            ),
        ),
        migrations.AddConstraint(
            "limitchange",
            models.CheckConstraint(condition=models.Q(("amount__gte", 0)), name="players_limit_amount"),
        ),
        migrations.AddConstraint(
            "limitchange",
            models.CheckConstraint(
                condition=models.Q(("effective_at__gte", models.F("asked_at"))), name="players_limit_order"
            ),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0008_limits.sql").read_text()),
        migrations.RunPython(give_roles, migrations.RunPython.noop),
    ]

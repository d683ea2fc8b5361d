"""Pauses, exclusions, register checks and time at play: ``players/sql/0009_pauses.sql``; who may exclude a player."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import Now

from players.roles import Duty, grant

EXCLUDE = Duty("players", "exclusion", "exclude_player", "Can exclude players")
KINDS = [
    ("pause", "Pause"),
    ("time_out", "Time-out"),
    ("self", "Self-exclusion"),
    ("staff", "Exclusion by the house"),
]
OUTCOMES = [("clear", "Clear"), ("excluded", "Excluded"), ("unreachable", "Unreachable"), ("dropped", "Dropped")]


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let compliance and support exclude players."""
    for role in ("compliance", "support"):
        grant(apps, schema_editor.connection.alias, role, EXCLUDE)


def number() -> models.BigAutoField:
    """Return the primary key that Django would make."""
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def player(**options: bool) -> models.ForeignKey:
    """Return the reference to the player."""
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.player", **options)


def sum_column() -> models.BigIntegerField:
    """Return a sum that begins with nothing."""
    return models.BigIntegerField(db_default=0, default=0)


class Migration(migrations.Migration):
    dependencies = [("players", "0008_limits")]
    operations = [
        migrations.CreateModel(
            "Exclusion",
            [
                ("id", number()),
                ("kind", models.CharField(max_length=8, choices=KINDS)),
                ("begun", models.DateTimeField(db_default=Now())),
                ("until", models.DateTimeField(null=True)),
                ("reason", models.CharField(max_length=500, db_default="", default="")),
                ("by", models.CharField(max_length=40)),
                ("player", player()),
            ],
            options={
                "default_permissions": (),
                "permissions": [("exclude_player", "Can exclude players")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(until__isnull=True, kind__in=["self", "staff"])
                        | models.Q(until__gt=models.F("begun")),
                        name="players_exclusion_lasts",
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(kind="staff") | ~models.Q(reason=""), name="players_exclusion_reason"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            "ExclusionLift",
            [
                ("id", number()),
                ("at", models.DateTimeField(db_default=Now())),
                ("reason", models.CharField(max_length=500)),
                ("asked_by", models.CharField(max_length=40)),
                ("decided_by", models.CharField(max_length=40)),
                (
                    "exclusion",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="lift", to="players.exclusion"
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=~models.Q(asked_by=models.F("decided_by")), name="players_exclusionlift_two_people"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            "RegisterCheck",
            [
                ("id", number()),
                ("register", models.CharField(max_length=40)),
                ("outcome", models.CharField(max_length=11, choices=OUTCOMES)),
                ("until", models.DateTimeField(null=True)),
                ("at", models.DateTimeField(db_default=Now())),
                ("player", player(db_index=False)),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["player", "register", "-id"], name="players_registercheck_last")],
            },
        ),
        migrations.CreateModel(
            "RealityCheck",
            [
                ("id", number()),
                ("minutes", models.PositiveSmallIntegerField()),
                ("at", models.DateTimeField(db_default=Now())),
                ("player", player(db_index=False)),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["player", "-id"], name="players_realitycheck_last")],
            },
        ),
        migrations.CreateModel(
            "Sitting",
            [
                ("session", models.UUIDField(primary_key=True, serialize=False)),
                ("began", models.DateTimeField(db_default=Now())),
                ("checked_at", models.DateTimeField(null=True)),
                ("rounds", models.PositiveIntegerField(db_default=0, default=0)),
                ("staked_real", sum_column()),
                ("paid_real", sum_column()),
                ("staked_free", sum_column()),
                ("paid_free", sum_column()),
                ("player", player(db_index=False)),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            "PlayTime",
            [
                ("pk", models.CompositePrimaryKey("player_id", "day", primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("seconds", models.PositiveIntegerField()),
                ("last_at", models.DateTimeField()),
                ("player", player(db_index=False)),
            ],
            options={"default_permissions": ()},
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0009_pauses.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

"""Flags for markers of harm: ``players/sql/0010_markers.sql``; who may see and answer them."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.roles import Duty, grant

SEE = Duty("players", "flag", "see_flags", "Can see and answer markers of harm")


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let compliance and support see flags, and record the contact they make."""
    for role in ("compliance", "support"):
        grant(apps, schema_editor.connection.alias, role, SEE)


class Migration(migrations.Migration):
    dependencies = [("players", "0009_pauses")]
    operations = [
        migrations.CreateModel(
            name="Look",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("seen", models.DateTimeField()),
                ("event_id", models.BigIntegerField()),
                ("players", models.PositiveIntegerField()),
                ("flags", models.PositiveIntegerField()),
            ],
            options={
                "db_table": "players_marker_look",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "marker",
                    models.CharField(
                        choices=[
                            ("raised_stakes", "Stakes raised after losses"),
                            ("loss_deposit", "Deposit soon after losses"),
                            ("emptied", "Deposits on an empty balance"),
                            ("nights", "Play in many nights"),
                            ("long_night", "Hours of play in one night"),
                            ("rapid_deposits", "Many deposits within a day"),
                            ("retried_deposits", "Declined deposits tried again"),
                            ("limits_undone", "Changes of limits taken back"),
                            ("withdrawals_undone", "Withdrawals taken back into play"),
                            ("contact_due", "Limit that asks for contact"),
                        ],
                        max_length=20,
                    ),
                ),
                ("raised_at", models.DateTimeField(db_default=audit.models.Clock())),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("no_concern", "No reason for concern"),
                            ("talked", "Talked about, the player decides"),
                            ("limited", "A limit was set"),
                            ("excluded", "The player is excluded or takes a pause"),
                        ],
                        max_length=12,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                (
                    "closed_by",
                    models.ForeignKey(
                        db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="players.staff"
                    ),
                ),
                ("player", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.player")),
            ],
            options={
                "permissions": [("see_flags", "Can see and answer markers of harm")],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Contact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("made_at", models.DateTimeField()),
                (
                    "way",
                    models.CharField(
                        choices=[
                            ("message", "Message in the house"),
                            ("email", "E-mail"),
                            ("phone", "Telephone"),
                            ("none", "None needed"),
                        ],
                        max_length=8,
                    ),
                ),
                ("said", models.TextField()),
                ("next_look", models.DateField(null=True)),
                (
                    "staff",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.staff"),
                ),
                (
                    "flag",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="contacts", to="players.flag"
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Sighting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("began", models.DateTimeField()),
                ("ended", models.DateTimeField()),
                ("degree", models.BigIntegerField()),
                ("sentence", models.TextField()),
                ("rows", models.JSONField()),
                (
                    "flag",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="sightings", to="players.flag"
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.AddConstraint(
            model_name="flag",
            constraint=models.UniqueConstraint(
                condition=models.Q(("closed_at", None)), fields=("player", "marker"), name="players_flag_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="flag",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at", None), ("closed_by", None), ("outcome", "")),
                    models.Q(
                        ("closed_at__isnull", False),
                        ("closed_by__isnull", False),
                        models.Q(("outcome", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="players_flag_closed",
            ),
        ),
        migrations.AddConstraint(
            model_name="contact",
            constraint=models.CheckConstraint(
                condition=models.Q(("made_at__lte", models.F("at"))), name="players_contact_was_made"
            ),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0010_markers.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

"""Shared tables, their shoes and rounds: ``games/sql/0008_live.sql``; who decides on incidents."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

SUPERVISE = Duty("games", "incident", "supervise_table", "Can decide on incidents and annul rounds of shared tables")


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let supervisors decide on incidents, and compliance be the second of two."""
    for role in ("supervisor", "compliance"):
        grant(apps, schema_editor.connection.alias, role, SUPERVISE)


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0007_opentable"),
        ("players", "0011_person"),
    ]

    operations = [
        migrations.CreateModel(
            name="IncidentRuling",
            fields=[
                (
                    "incident",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="ruling",
                        serialize=False,
                        to="games.incident",
                    ),
                ),
                (
                    "ruling",
                    models.CharField(
                        choices=[("stands", "the round stands"), ("void", "the round is annulled")], max_length=6
                    ),
                ),
                ("by", models.CharField(max_length=40)),
                ("reason", models.CharField(max_length=300)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="LiveSeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("account_id", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("round_id", models.UUIDField(null=True)),
                ("stakes", models.JSONField(default=dict)),
                ("version", models.PositiveIntegerField(default=0)),
                ("undo", models.JSONField(default=list)),
                ("last_stakes", models.JSONField(default=dict)),
                ("last_chip", models.PositiveBigIntegerField(null=True)),
                ("session", models.UUIDField(null=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="LiveTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mode", models.CharField(choices=[("R", "Real"), ("F", "Free")], max_length=1)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="LiveTotal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("currency", models.CharField(max_length=3)),
                ("stakes", models.JSONField(default=dict)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Shoe",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField()),
                ("decks", models.PositiveSmallIntegerField()),
                ("commitment", models.CharField(max_length=64)),
                ("sealed_seed", models.BinaryField()),
                ("burn_card", models.CharField(max_length=2)),
                ("burned", models.PositiveSmallIntegerField()),
                ("cut", models.PositiveSmallIntegerField()),
                ("gone", models.PositiveSmallIntegerField()),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("seed", models.BinaryField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ending",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("cut_card", "dealt through to the cut card"),
                            ("retired", "retired after a round was annulled"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.AlterModelOptions(
            name="incident",
            options={
                "default_permissions": ("view",),
                "permissions": [("supervise_table", "Can decide on incidents and annul rounds of shared tables")],
            },
        ),
        migrations.AddField(
            model_name="incident",
            name="cards",
            field=models.CharField(db_default="", default="", max_length=40),
        ),
        migrations.AddField(
            model_name="incident",
            name="cause",
            field=models.TextField(db_default="", default=""),
        ),
        migrations.AddField(
            model_name="round",
            name="first_card",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="table",
            name="shape",
            field=models.CharField(
                choices=[("solo", "one player, on demand"), ("shared", "many players, in timed rounds")],
                db_default="solo",
                default="solo",
                max_length=6,
            ),
        ),
        migrations.AddField(
            model_name="tableversion",
            name="clock",
            field=models.JSONField(null=True),
        ),
        migrations.AlterField(
            model_name="incident",
            name="kind",
            field=models.CharField(
                choices=[
                    ("not_reproduced", "Its seed does not reproduce it"),
                    ("rules_unknown", "The rules it was played under are not known any more"),
                    ("ledger_refuses", "Its seed does not reproduce it, and the ledger refuses to reverse it"),
                    ("phase_raised", "It could not be moved on"),
                    ("overdue", "It stood still past its deadline"),
                    ("wrong_card", "The shoe is not what was shuffled"),
                    ("not_recomputed", "Its settlement does not recompute"),
                    ("reported", "Reported by staff"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="incident",
            name="round",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to="games.round"),
        ),
        migrations.AlterField(
            model_name="round",
            name="seed",
            field=models.BinaryField(null=True),
        ),
        migrations.AlterField(
            model_name="void",
            name="reason",
            field=models.CharField(
                choices=[
                    ("not_reproduced", "its seed does not reproduce it"),
                    ("overdue", "it could not be dealt in time"),
                    ("cancelled", "cancelled before its deal"),
                    ("decided", "decided by two people after an incident"),
                ],
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="LiveRound",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("number", models.PositiveSmallIntegerField()),
                ("is_last", models.BooleanField()),
                ("code", models.CharField(max_length=14)),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("betting", "bets are taken until the deadline"),
                            ("closed", "no more bets; stakes are posted"),
                            ("dealt", "its cards are drawn and turned up one by one until the deadline"),
                            ("settled", "paid; the next one opens after the deadline"),
                            ("void", "annulled, or ended without a bet; the next one opens after the deadline"),
                        ],
                        max_length=7,
                    ),
                ),
                ("deadline", models.DateTimeField()),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("closed_at", models.DateTimeField(null=True)),
                ("dealt_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("first_card", models.PositiveSmallIntegerField(null=True)),
                ("cards", models.CharField(default="", max_length=40)),
                (
                    "version",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, to="games.tableversion"
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.AddField(
            model_name="incident",
            name="live_round",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to="games.liveround"),
        ),
        migrations.AddField(
            model_name="liveseat",
            name="player",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
        ),
        migrations.AddField(
            model_name="livetable",
            name="round",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="games.liveround",
            ),
        ),
        migrations.AddField(
            model_name="livetable",
            name="stopped_by",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="games.incident",
            ),
        ),
        migrations.AddField(
            model_name="livetable",
            name="table",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="live", to="games.table"
            ),
        ),
        migrations.AddField(
            model_name="liveseat",
            name="live_table",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="games.livetable"),
        ),
        migrations.AddField(
            model_name="liveround",
            name="live_table",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="rounds", to="games.livetable"
            ),
        ),
        migrations.AddField(
            model_name="livetotal",
            name="round",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="games.liveround"),
        ),
        migrations.AddField(
            model_name="shoe",
            name="live_table",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="shoes", to="games.livetable"
            ),
        ),
        migrations.AddField(
            model_name="livetable",
            name="shoe",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="games.shoe",
            ),
        ),
        migrations.AddField(
            model_name="liveround",
            name="shoe",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="live_rounds", to="games.shoe"
            ),
        ),
        migrations.AddField(
            model_name="round",
            name="shoe",
            field=models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="games.shoe"
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("seed__isnull", True), ("shoe__isnull", False)),
                    models.Q(("seed__isnull", False), ("shoe__isnull", True)),
                    _connector="OR",
                ),
                name="games_round_one_seed",
            ),
        ),
        migrations.AddIndex(
            model_name="liveseat",
            index=models.Index(fields=["round_id"], name="games_liveseat_round"),
        ),
        migrations.AddConstraint(
            model_name="liveseat",
            constraint=models.UniqueConstraint(fields=("live_table", "player"), name="games_liveseat_once"),
        ),
        migrations.AddConstraint(
            model_name="livetotal",
            constraint=models.UniqueConstraint(fields=("round", "currency"), name="games_livetotal_once"),
        ),
        migrations.AddConstraint(
            model_name="shoe",
            constraint=models.UniqueConstraint(fields=("live_table", "number"), name="games_shoe_number"),
        ),
        migrations.AddConstraint(
            model_name="shoe",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("ending", ""), ("seed__isnull", True)),
                    models.Q(("ended_at__isnull", False), ("ending", "cut_card"), ("seed__isnull", False)),
                    models.Q(("ended_at__isnull", False), ("ending", "retired")),
                    _connector="OR",
                ),
                name="games_shoe_seed_when_ended",
            ),
        ),
        migrations.AddConstraint(
            model_name="livetable",
            constraint=models.UniqueConstraint(fields=("table", "mode"), name="games_livetable_once"),
        ),
        migrations.AddConstraint(
            model_name="liveround",
            constraint=models.UniqueConstraint(
                condition=models.Q(("phase__in", ("betting", "closed", "dealt"))),
                fields=("live_table",),
                name="games_liveround_one_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="liveround",
            constraint=models.UniqueConstraint(fields=("shoe", "number"), name="games_liveround_number"),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0008_live.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

"""Notes about incidents, and letters about them to players; none of it is ever changed (`casino/privileges.py`)."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0021_lists"), ("players", "0020_lists")]
    operations = [
        migrations.CreateModel(
            name="IncidentNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(max_length=1000)),
                ("by", models.CharField(max_length=40)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="notes", to="games.incident"
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="IncidentLetter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round_id", models.UUIDField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("annulled", "The round is annulled, stakes are back"),
                            ("stands", "The round was looked into, and stands"),
                            ("completed", "The round was interrupted, and completed"),
                            ("shortfall", "The house bore what had been spent"),
                            ("apology", "An apology"),
                        ],
                        max_length=9,
                    ),
                ),
                ("sentences", models.JSONField(default=dict)),
                ("by", models.CharField(max_length=40)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="letters", to="games.incident"
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddConstraint(
            model_name="incidentletter",
            constraint=models.UniqueConstraint(fields=("round_id", "kind"), name="games_incidentletter_once"),
        ),
        migrations.CreateModel(
            name="LetterCopy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=2)),
                ("conversation", models.BigIntegerField()),
                (
                    "letter",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="copies",
                        to="games.incidentletter",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
                (
                    "mail",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.mail"),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddConstraint(
            model_name="lettercopy",
            constraint=models.UniqueConstraint(fields=("letter", "player"), name="games_lettercopy_once"),
        ),
    ]

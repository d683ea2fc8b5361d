"""The chat of shared tables, its names, blocks, reports and bans: ``games/sql/0011_chat.sql``; who moderates it."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

MODERATE = Duty("games", "chatreport", "moderate_chat", "Can moderate the chat")
READ = Duty("games", "chatreport", "read_chat", "Can read the log of the chat")


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those who answer players and those who supervise tables moderate, and compliance read what they did."""
    alias = schema_editor.connection.alias
    for role in ("support", "supervisor"):
        grant(apps, alias, role, MODERATE, READ)
    grant(apps, alias, "compliance", READ)


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0010_furniture"),
        ("players", "0011_person"),
    ]

    operations = [
        migrations.AddField(
            model_name="table",
            name="chat_language",
            field=models.CharField(blank=True, db_default="", default="", max_length=2),
        ),
        migrations.CreateModel(
            name="ChatMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=20)),
                ("language", models.CharField(max_length=2)),
                ("text", models.CharField(max_length=200)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("removed_at", models.DateTimeField(null=True)),
                ("removed_by", models.CharField(blank=True, max_length=40)),
                (
                    "live_table",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, to="games.livetable"
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ChatName",
            fields=[
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        serialize=False,
                        to="players.player",
                    ),
                ),
                ("name", models.CharField(max_length=20)),
                ("chosen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(django.db.models.functions.text.Lower("name"), name="games_chatname_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ChatReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("abuse", "Insult or threat"),
                            ("begging", "Begging or selling"),
                            ("private", "Somebody's private details"),
                            ("cheating", "Playing together against others"),
                            ("other", "Something else"),
                        ],
                        max_length=8,
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[("removed", "The message was removed"), ("kept", "The message stays")],
                        default="",
                        max_length=7,
                    ),
                ),
                ("decided_by", models.CharField(blank=True, default="", max_length=40)),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reports",
                        to="games.chatmessage",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "permissions": [
                    ("moderate_chat", "Can moderate the chat"),
                    ("read_chat", "Can read the log of the chat"),
                ],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ChatBan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("until", models.DateTimeField(null=True)),
                ("reason", models.CharField(max_length=300)),
                ("by", models.CharField(max_length=40)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("lifted_at", models.DateTimeField(null=True)),
                ("lifted_by", models.CharField(blank=True, default="", max_length=40)),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["player", "-id"], name="games_chatban_player")],
            },
        ),
        migrations.CreateModel(
            name="ChatBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "blocked",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.player",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="players.player",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("player", "blocked"), name="games_chatblock_once")],
            },
        ),
        migrations.AddIndex(
            model_name="chatmessage",
            index=models.Index(fields=["live_table", "-id"], name="games_chatmessage_table"),
        ),
        migrations.AddIndex(
            model_name="chatmessage",
            index=models.Index(fields=["player", "-id"], name="games_chatmessage_player"),
        ),
        migrations.AddIndex(
            model_name="chatmessage",
            index=models.Index(fields=["at"], name="games_chatmessage_at"),
        ),
        migrations.AddIndex(
            model_name="chatmessage",
            index=models.Index(
                condition=models.Q(("removed_at__isnull", False)),
                fields=["live_table", "removed_at"],
                name="games_chatmessage_removed",
            ),
        ),
        migrations.AddIndex(
            model_name="chatmessage",
            index=models.Index(django.db.models.functions.text.Lower("name"), name="games_chatmessage_name"),
        ),
        migrations.AddIndex(
            model_name="chatreport",
            index=models.Index(condition=models.Q(("decision", "")), fields=["at"], name="games_chatreport_open"),
        ),
        migrations.AddConstraint(
            model_name="chatreport",
            constraint=models.UniqueConstraint(fields=("message", "player"), name="games_chatreport_once"),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0011_chat.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

"""Customer service: conversations, their messages, who of the staff answers: ``players/sql/0007_service.sql``."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

ANSWER = Duty("players", "conversation", "answer_service", "Can answer players")


def let_answer(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the answering to those who look after players."""
    for role in ("support", "compliance", "operator"):
        grant(apps, schema_editor.connection.alias, role, ANSWER)


class Migration(migrations.Migration):
    dependencies = [("players", "0006_identity")]
    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(choices=[("question", "A question"), ("complaint", "A complaint"), ("money", "Deposits and withdrawals"), ("protection", "Responsible play"), ("other", "Something else")], max_length=10)),
                ("round_id", models.UUIDField(null=True)),
                ("round_code", models.CharField(blank=True, max_length=14)),
                ("state", models.CharField(choices=[("received", "Received"), ("answered", "Answered"), ("closed", "Closed")], default="received", max_length=8)),
                ("verdict", models.CharField(blank=True, choices=[("upheld", "We agree with the complaint"), ("partly", "We agree with part of the complaint"), ("rejected", "We do not agree with the complaint"), ("by_player", "Closed by the player")], max_length=10)),
                ("is_unread", models.BooleanField(default=False)),
                ("began_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("due_at", models.DateTimeField(null=True)),
                ("moved_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("player", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player")),
            ],
            options={
                "permissions": [("answer_service", "Can answer players")],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["player", "-id"], name="players_conversation_mine"),
                    models.Index(condition=models.Q(("state", "closed"), _negated=True), fields=["moved_at"], name="players_conversation_open"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ServiceMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("conversation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="messages", to="players.conversation")),
                ("staff", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to="players.staff")),
            ],
            options={"default_permissions": ()},
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0007_service.sql").read_text()),
        migrations.RunPython(let_answer, migrations.RunPython.noop),
    ]

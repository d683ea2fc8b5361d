"""What staff note about players, and by what they find them: ``players/sql/0015_notes.sql``; who may."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import MD5

import audit.models
from players import sameness
from players.roles import Duty, grant

SEE_PLAYERS = Duty("players", "player", "view_player", "Can view player")
NOTE = Duty("players", "note", "note_players", "Can read and write notes about players")


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those who look after players and those who pay them see and note; split names and addresses into words."""
    alias = schema_editor.connection.alias
    for role in ("compliance", "finance", "support"):
        grant(apps, alias, role, SEE_PLAYERS, NOTE)
    words = apps.get_model("players", "SearchWord").objects.using(alias)
    known = apps.get_model("players", "Submission").objects.using(alias).exclude(family_name="")
    for sent in known.order_by("pk").iterator(1000):
        said = {
            "name": sameness.words(f"{sent.given_names} {sent.family_name}"),
            "address": [
                *sameness.words(f"{sent.street} {sent.postal_code} {sent.city}"),
                sameness.text(sent.postal_code),
            ],
        }
        found = [(field, word) for field, told in said.items() for word in sorted(set(told) - {""})]
        rows = [words.model(player_id=sent.player_id, field=field, word=word) for field, word in found]
        words.bulk_create(rows, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("players", "0014_staff")]
    operations = [
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("text", models.CharField(max_length=2000)),
                ("restricted", models.BooleanField(default=False)),
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
                "permissions": [("note_players", "Can read and write notes about players")],
                "default_permissions": (),
                "indexes": [models.Index(fields=["player", "-id"], name="players_note_of")],
            },
        ),
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("field", models.CharField(choices=[("name", "Name"), ("address", "Address")], max_length=7)),
                ("word", models.TextField(db_collation="C")),
                (
                    "player",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["field", "word", "player"], name="players_searchword_find")],
                "constraints": [
                    models.UniqueConstraint(fields=("player", "field", "word"), name="players_searchword_once")
                ],
            },
        ),
        migrations.AddIndex("session", models.Index(fields=["user", "-began_at", "-id"], name="players_session_of")),
        migrations.AddIndex(
            "session",
            models.Index(fields=["ip", "user"], condition=~models.Q(ip=""), name="players_session_ip"),
        ),
        migrations.AddIndex(
            "session",
            models.Index(MD5("browser"), "user", condition=~models.Q(browser=""), name="players_session_browser"),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0015_notes.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

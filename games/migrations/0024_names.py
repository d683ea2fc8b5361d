"""Names of the chat that staff take away, bans at one table, and on what grounds all of it is done:
``games/sql/0024_names.sql``; the letter that tells players of it.
"""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.replies import shipped

GROUNDS = [
    ("abuse", "Insult or threat"),
    ("spam", "The same again and again"),
    ("advertising", "Begging, selling or advertising"),
    ("private", "Somebody's private details"),
    ("cheating", "Playing together against others"),
    ("impostor", "Passing for somebody else"),
    ("other", "Something else that is not wanted"),
]


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make the letter in a house that was opened before it was shipped."""
    templates = apps.get_model("players", "ReplyTemplate").objects.using(schema_editor.connection.alias)
    known = set(templates.values_list("name", flat=True))
    templates.bulk_create(
        [templates.model(number=1, **each) for each in shipped.templates() if each["name"] not in known]
    )


class Migration(migrations.Migration):
    dependencies = [("games", "0023_pause"), ("players", "0021_templates")]
    operations = [
        migrations.CreateModel(
            name="ChatNameTaken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=20)),
                ("grounds", models.CharField(choices=GROUNDS, max_length=11)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("by", models.CharField(max_length=40)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "player",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to="players.player"),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.AddConstraint(
            model_name="chatnametaken",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("name"), name="games_chatnametaken_once"
            ),
        ),
        migrations.AddField(
            model_name="chatmessage",
            name="removed_for",
            field=models.CharField(blank=True, choices=GROUNDS, db_default="", default="", max_length=11),
        ),
        migrations.AddField(
            model_name="chatmessage",
            name="removed_note",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
        migrations.AddField(
            model_name="chatban",
            name="grounds",
            field=models.CharField(choices=GROUNDS, db_default="other", default="other", max_length=11),
        ),
        migrations.AddField(
            model_name="chatban",
            name="live_table",
            field=models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="games.livetable"
            ),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0024_names.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

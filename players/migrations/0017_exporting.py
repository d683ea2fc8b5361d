"""Lists of rows: who takes them out as files, the order of sessions, and sessions that staff end."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

EXPORT = Duty("audit", "event", "export_rows", "Can take rows of lists out as files")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those take rows out who make reports."""
    for role in ("finance", "compliance"):
        grant(apps, schema_editor.connection.alias, role, EXPORT)


class Migration(migrations.Migration):
    dependencies = [("players", "0016_account_locks"), ("audit", "0010_exporting")]
    operations = [
        migrations.AlterField(
            model_name="session",
            name="why",
            field=models.CharField(
                choices=[
                    ("logged out", "Logged Out"),
                    ("timed out", "Idle"),
                    ("ended from another session", "Elsewhere"),
                    ("password changed", "Password"),
                    ("account closed", "Closed"),
                    ("ended by the house", "House"),
                ],
                default="",
                max_length=30,
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["-began_at", "-id"], name="players_session_newest"),
        ),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]

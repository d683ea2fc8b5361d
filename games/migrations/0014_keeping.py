"""How long chat is kept is data: ``games/sql/0014_keeping.sql``. Compliance sees tables and changes nothing at them."""

from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant, take

SUPERVISE = Duty("games", "incident", "supervise_table", "Can decide on incidents and annul rounds of shared tables")
SEE_TABLES = Duty("games", "table", "view_table", "Can view table")


def change(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Leave what is done about tables to supervisors."""
    take(apps, schema_editor.connection.alias, "compliance", SUPERVISE)
    grant(apps, schema_editor.connection.alias, "compliance", SEE_TABLES)


class Migration(migrations.Migration):
    dependencies = [("games", "0013_recall"), ("players", "0012_keeping")]
    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0014_keeping.sql").read_text()),
        migrations.RunPython(change, migrations.RunPython.noop),
    ]

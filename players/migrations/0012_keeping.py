"""How long what is kept is data: ``players/sql/0012_keeping.sql``. Compliance sees all approvals and says, two of them
together, how long.
"""

from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

SEE_APPROVALS = Duty("audit", "approval", "view_approval", "Can view approval")
KEEP = Duty("audit", "retention", "change_retention", "Can change retention")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let compliance see approvals of every kind, and change how long what is kept."""
    grant(apps, schema_editor.connection.alias, "compliance", SEE_APPROVALS, KEEP)


class Migration(migrations.Migration):
    dependencies = [("players", "0011_person"), ("audit", "0005_retention")]
    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0012_keeping.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]

"""Compliance and finance make reports; compliance works on significant events and sets their thresholds."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

REPORTS = Duty("audit", "report", "view_report", "Can view report")
HANDLE = Duty("audit", "significant", "handle_significant", "Can work on significant events")
THRESHOLDS = Duty("audit", "threshold", "change_threshold", "Can change threshold")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give each role what it needs of this."""
    alias = schema_editor.connection.alias
    grant(apps, alias, "compliance", REPORTS, HANDLE, THRESHOLDS)
    grant(apps, alias, "finance", REPORTS)


class Migration(migrations.Migration):
    dependencies = [("players", "0012_keeping"), ("audit", "0008_significant")]
    operations = [migrations.RunPython(give, migrations.RunPython.noop)]

"""Everything that has happened so far comes before the first month: validated beside play, so that cutting reads nothing."""

from django.db import migrations

from audit import months


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("audit", "0015_references")]
    operations = [migrations.RunSQL(statement) for statement in months.comes_before("audit_event", "id")]

"""Events are kept in a table for each month."""

from django.db import migrations

from audit import months


class Migration(migrations.Migration):
    dependencies = [("audit", "0016_before_months")]
    operations = [migrations.RunSQL(statement) for statement in months.cut_up("audit_event", "id")]

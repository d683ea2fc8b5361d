"""What the planner knows of all months together, counted beside play: PostgreSQL's own housekeeping looks at each alone."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("audit", "0018_archived")]
    operations = [migrations.RunSQL("ANALYZE audit_event")]

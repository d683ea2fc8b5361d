"""What the planner knows of all months together, counted beside play: PostgreSQL's own housekeeping looks at each alone."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("wallet", "0028_carried")]
    operations = [migrations.RunSQL("ANALYZE wallet_entry"), migrations.RunSQL("ANALYZE wallet_journal")]

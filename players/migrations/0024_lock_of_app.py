"""Who locks accounts has the permission of this very app: ``players/sql/0024_lock_of_app.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0023_complaints")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0024_lock_of_app.sql").read_text())]

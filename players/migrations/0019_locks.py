"""A locked account plays nowhere, whatever was let in before the lock: ``players/sql/0019_locks.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0018_four_eyes")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0019_locks.sql").read_text())]

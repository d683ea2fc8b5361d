"""Personal values of events that have gone to an archive are erased with all others: ``players/sql/0028_archived.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0027_remote"), ("audit", "0018_archived")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0028_archived.sql").read_text())]

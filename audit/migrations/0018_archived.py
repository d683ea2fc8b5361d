"""Personal values of events that have gone to an archive expire: ``audit/sql/0018_archived.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0017_by_months")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0018_archived.sql").read_text())]

"""What could keep something out of sight is on record first: ``audit/sql/0009_first_said.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0008_significant")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0009_first_said.sql").read_text())]

"""Sums are written in their order, and alarms are on record first: ``games/sql/0018_first_said.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0017_randomness"), ("audit", "0009_report_indexes")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0018_first_said.sql").read_text())]

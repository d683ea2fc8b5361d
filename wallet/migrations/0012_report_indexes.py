"""Sums and what was seen of accounts are written in their order: ``wallet/sql/0012_first_said.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0011_moved"), ("audit", "0009_report_indexes")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0012_first_said.sql").read_text())]

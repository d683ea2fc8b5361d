"""Erasing is recorded by the database alone: ``players/sql/0013_erasing.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0012_keeping"), ("audit", "0005_guards")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0013_erasing.sql").read_text())]

"""Rounds annulled only as two people decided, held by the database: ``games/sql/0025_voids.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0024_names"),
        ("players", "0018_four_eyes"),  # players_staff_may
        ("wallet", "0009_banks"),
    ]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0025_voids.sql").read_text())]

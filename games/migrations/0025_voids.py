"""Rounds annulled only as two people decided, held by the database: ``games/sql/0025_voids.sql``; coups listed by outcome."""

from pathlib import Path

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0024_names"),
        ("players", "0018_four_eyes"),  # players_staff_may
        ("wallet", "0009_banks"),
    ]
    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0025_voids.sql").read_text()),
        # What the list of coups between guests is filtered by.
        migrations.AddIndex(
            "chemincoup", models.Index(fields=["outcome", "-at", "-round"], name="games_chemincoup_outcome")
        ),
    ]

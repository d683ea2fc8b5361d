"""No bet on a shoe whose cards can be known: ``games/sql/0009_incidents.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0008_live")]

    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0009_incidents.sql").read_text()),
    ]

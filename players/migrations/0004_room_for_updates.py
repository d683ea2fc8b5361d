"""Room in the pages of play sessions, so that their updates touch no index."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0003_credentials"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE players_playsession SET (fillfactor = 70)",
            "ALTER TABLE players_playsession RESET (fillfactor)",
        ),
    ]

"""Room in the pages of time played, so that its updates touch no index."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0004_room_for_updates"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE players_playtime SET (fillfactor = 70)",
            "ALTER TABLE players_playtime RESET (fillfactor)",
        ),
    ]

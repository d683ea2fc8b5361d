"""Nobody looks up a wager by its id, so it has no index of it; ``games_wager_once`` makes wagers unique."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0004_phases"),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE games_wager DROP CONSTRAINT games_wager_pkey",
            "ALTER TABLE games_wager ADD CONSTRAINT games_wager_pkey PRIMARY KEY (id)",
        ),
    ]

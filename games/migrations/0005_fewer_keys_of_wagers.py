"""No foreign key of wagers: only functions write them, together with their participation.

Nobody looks up a wager by its id, so it has no index of it; ``games_wager_once`` makes wagers unique.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0004_fewer_keys_of_participations"),
    ]

    operations = [
        migrations.AlterField(
            model_name="wager",
            name="participation",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="wagers",
                to="games.participation",
            ),
        ),
        migrations.RunSQL(
            "ALTER TABLE games_wager DROP CONSTRAINT games_wager_pkey",
            "ALTER TABLE games_wager ADD CONSTRAINT games_wager_pkey PRIMARY KEY (id)",
        ),
    ]

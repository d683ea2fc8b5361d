"""No foreign keys of participations: only functions write them, and they write both sides of each key."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0003_bet_combinations"),
    ]

    operations = [
        migrations.AlterField(
            model_name="participation",
            name="round",
            field=models.ForeignKey(
                db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to="games.round"
            ),
        ),
        migrations.AlterField(
            model_name="participation",
            name="player",
            field=models.ForeignKey(
                db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.player"
            ),
        ),
        migrations.AlterField(
            model_name="liveround",
            name="phase",
            field=models.CharField(
                choices=[
                    ("betting", "betting open until the deadline"),
                    ("closed", "no more bets"),
                    ("dealt", "cards are drawn and revealed until the deadline"),
                    ("settled", "paid; the next round opens after the deadline"),
                    ("void", "void, or ended without a bet; the next round opens after the deadline"),
                ],
                max_length=7,
            ),
        ),
    ]

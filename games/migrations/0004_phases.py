"""Phases of shared rounds, whose money moves when they are paid."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0003_bet_combinations"),
    ]

    operations = [
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

"""Rounds are found by table and time, and by what was staked or paid, whoever played them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0012_chemin")]
    operations = [
        migrations.AddIndex(
            "participation",
            models.Index(fields=["table", "mode", "-at", "-id"], name="games_participation_recall"),
        ),
        migrations.AddIndex(
            "participation", models.Index(fields=["currency", "staked"], name="games_participation_staked")
        ),
        migrations.AddIndex(
            "participation", models.Index(fields=["currency", "paid"], name="games_participation_paid")
        ),
    ]

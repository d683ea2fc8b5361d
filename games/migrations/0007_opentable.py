"""Where a player sits whose law lets them play at one table at a time."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


class Migration(migrations.Migration):
    dependencies = [("games", "0006_fewer_indexes"), ("players", "0011_person")]
    operations = [
        migrations.CreateModel(
            "OpenTable",
            [
                ("player", models.OneToOneField("players.player", PROTECT, primary_key=True, serialize=False)),
                ("table", models.ForeignKey("games.table", PROTECT, db_index=False)),
                ("mode", models.CharField(max_length=1, choices=[("R", "Real"), ("F", "Free")])),
            ],
            {"default_permissions": ()},
        )
    ]

"""A round writes to no index that nobody reads: those of foreign keys that a constraint's index begins with, those that
nothing looks by, and the one for the beginnings of codes.
"""

from django.db import migrations, models
from django.db.models.deletion import PROTECT


class Migration(migrations.Migration):
    dependencies = [("games", "0005_nextround_player_value"), ("players", "0002_jurisdictions_and_roles")]
    operations = [
        migrations.AlterField("nextround", "player", models.ForeignKey("players.player", PROTECT, db_index=False)),
        migrations.AlterField("nextround", "table", models.ForeignKey("games.table", PROTECT, db_index=False)),
        migrations.AlterField("participation", "player", models.ForeignKey("players.player", PROTECT, db_index=False)),
        migrations.AlterField("participation", "round", models.ForeignKey("games.round", PROTECT, db_index=False)),
        migrations.AlterField("round", "code", models.CharField(max_length=14)),
        migrations.AddConstraint("round", models.UniqueConstraint(fields=["code"], name="games_round_code")),
        migrations.AlterField(
            "round", "table_version", models.ForeignKey("games.tableversion", PROTECT, db_index=False)
        ),
        migrations.AlterField(
            "wager",
            "participation",
            models.ForeignKey("games.participation", PROTECT, related_name="wagers", db_index=False),
        ),
    ]

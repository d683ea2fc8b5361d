"""What players write into the shuffle stays with their place."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0004_nextround_used_at")]
    operations = [
        migrations.AddField("nextround", "player_value", models.CharField(max_length=64, db_default="", default="")),
    ]

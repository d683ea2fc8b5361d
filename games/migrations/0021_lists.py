"""What lists of play are ordered and filtered by. Rounds that one player has at a table get no index more."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0020_tables")]
    operations = [
        migrations.AddIndex("liveround", models.Index(fields=["-opened_at", "-id"], name="games_liveround_newest")),
        migrations.AddIndex(
            "liveround", models.Index(fields=["live_table", "-opened_at", "-id"], name="games_liveround_table")
        ),
        migrations.AddIndex(
            "liveround",
            models.Index(fields=["-opened_at", "-id"], condition=models.Q(phase="void"), name="games_liveround_void"),
        ),
        migrations.AddIndex("chemincoup", models.Index(fields=["-at", "-round"], name="games_chemincoup_newest")),
        migrations.AddIndex("incident", models.Index(fields=["kind", "-id"], name="games_incident_kind")),
    ]

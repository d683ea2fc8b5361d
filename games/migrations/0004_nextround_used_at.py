"""When a player last did something at a place: purses that nobody uses flow back."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("games", "0003_search_of_rounds"), ("wallet", "0003_purse")]
    operations = [
        migrations.AddField("nextround", "used_at", models.DateTimeField(db_default=Now())),
    ]

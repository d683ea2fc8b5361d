"""Players whose money lies at an operator's wallet."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0026_calls")]
    operations = [
        migrations.AddField(
            model_name="player",
            name="is_remote",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]

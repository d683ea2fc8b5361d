"""From how many decks the rules deal: what a commitment names, and the database compares."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0006_dealer"),
    ]

    operations = [
        migrations.AddField(
            model_name="betcombinations",
            name="decks",
            field=models.PositiveSmallIntegerField(db_default=0),
            preserve_default=False,
        ),
    ]

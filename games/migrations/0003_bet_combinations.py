"""Which bets of the rules may be placed together and what they win together: the guard of bets at shared tables."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0002_highest_odds"),
    ]

    operations = [
        migrations.CreateModel(
            name="BetCombinations",
            fields=[
                ("rules_digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("exclusions", models.JSONField()),
                ("needs", models.JSONField()),
                ("wins", models.JSONField()),
            ],
            options={
                "default_permissions": (),
            },
        ),
    ]

"""The highest payout odds of each bet: the limit of what a round may pay."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="HighestOdds",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("rules_digest", models.CharField(max_length=64)),
                ("bet", models.CharField(max_length=20)),
                ("outcome", models.CharField(max_length=6)),
                ("win", models.IntegerField()),
                ("per", models.PositiveIntegerField()),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("rules_digest", "outcome", "bet"), name="games_highestodds_once")
                ],
            },
        ),
    ]

"""What the dealer needs: the keys of its proofs, its epochs, and the rules that a commitment names."""

from pathlib import Path

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0005_fewer_keys_of_wagers"),
    ]

    operations = [
        migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text(), "DROP TABLE games_dealer_key"),
        migrations.CreateModel(
            name="DealerEpoch",
            fields=[
                ("epoch", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.AddField(
            model_name="soloseat",
            name="rules_digest",
            field=models.CharField(db_default="", default="", max_length=64),
        ),
        migrations.AlterField(
            model_name="incident",
            name="kind",
            field=models.CharField(
                choices=[
                    ("not_reproduced", "Seed does not reproduce the round"),
                    ("rules_unknown", "Rules of the round are not installed"),
                    ("ledger_refuses", "Seed does not reproduce the round, and the ledger cannot reverse it"),
                    ("phase_raised", "Round could not continue"),
                    ("overdue", "Round exceeded its deadline"),
                    ("wrong_card", "Shoe differs from the shuffle"),
                    ("not_recomputed", "Settlement cannot be reproduced"),
                    ("not_dealt", "No proof that the dealer dealt the round"),
                    ("reported", "Reported by staff"),
                ],
                max_length=20,
            ),
        ),
    ]

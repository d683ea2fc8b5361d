"""What players read of an adjustment, in sentences that somebody would say."""

from django.db import migrations, models

WHY = [
    ("deposit", "A deposit of yours had not been booked as it was paid."),
    ("withdrawal", "A withdrawal of yours had not been booked as it was paid out."),
    ("round", "A round had been booked with an error."),
    ("twice", "An amount had been booked twice."),
    ("goodwill", "The house is putting right a mistake of its own."),
    ("ruling", "This is how your complaint was decided."),
]


class Migration(migrations.Migration):
    dependencies = [("wallet", "0015_four_eyes")]
    operations = [
        migrations.AlterField(model_name="adjustment", name="why", field=models.CharField(choices=WHY, max_length=10))
    ]

"""Whoever asked for something may withdraw it: ``audit/sql/0011_withdrawing.sql``."""

from pathlib import Path

from django.db import migrations, models

VERDICTS = [("approved", "Approved"), ("refused", "Refused"), ("expired", "Expired"), ("withdrawn", "Withdrawn")]


class Migration(migrations.Migration):
    dependencies = [("audit", "0010_exporting")]
    operations = [
        migrations.RunSQL(
            (Path(__file__).parents[1] / "sql" / "0011_withdrawing.sql").read_text(),
            state_operations=[
                migrations.AlterField("decision", "verdict", models.CharField(choices=VERDICTS, max_length=9))
            ],
        )
    ]

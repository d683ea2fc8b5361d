"""The human behind a staff account: ``players/sql/0011_person.sql`` keeps approvals between two of them."""

from pathlib import Path

from django.contrib.postgres.functions import RandomUUID
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0010_markers"), ("audit", "0002_approvals")]
    operations = [
        migrations.AddField("staff", "person", models.UUIDField(db_default=RandomUUID())),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0011_person.sql").read_text()),
    ]

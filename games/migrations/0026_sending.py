"""Letters of an incident are written in parts: that the last one is written is a row, never changed
(`casino/privileges.py`).
"""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = Path(__file__).parents[1] / "sql" / "0026_sending.sql"


class Migration(migrations.Migration):
    dependencies = [("games", "0025_voids")]
    operations = [
        migrations.CreateModel(
            name="LetterEnd",
            fields=[
                (
                    "letter",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="end",
                        serialize=False,
                        to="games.incidentletter",
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"default_permissions": ()},
        ),
        migrations.RunSQL(SQL.read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]

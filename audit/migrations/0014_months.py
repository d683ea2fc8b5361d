"""How tables are kept by months, and what has gone to an archive: ``audit/sql/0014_months.sql``."""

from pathlib import Path

from django.db import migrations, models

import audit.models.clock


class Migration(migrations.Migration):
    dependencies = [("audit", "0013_verdicts")]

    operations = [
        migrations.CreateModel(
            name="ArchivedMonth",
            fields=[
                ("month", models.TextField(primary_key=True, serialize=False)),
                ("first", models.BigIntegerField()),
                ("beyond", models.BigIntegerField(unique=True)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("events", models.BigIntegerField()),
                ("journals", models.BigIntegerField()),
                ("file", models.TextField()),
                ("sha256", models.TextField()),
                ("event_id", models.BigIntegerField()),
                ("said", models.BinaryField()),
                ("at", models.DateTimeField(db_default=audit.models.clock.Clock())),
            ],
            options={"db_table": "audit_archived", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="ArchivedEvent",
            fields=[
                ("event_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("by", models.TextField()),
                ("on", models.TextField()),
                ("body", models.BinaryField(null=True)),
            ],
            options={
                "db_table": "audit_archived_event",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["on"], name="audit_archived_event_on"),
                    models.Index(fields=["by"], name="audit_archived_event_by"),
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0014_months.sql").read_text()),
    ]

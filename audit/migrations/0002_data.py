"""Retention periods of each kind of record, and the amounts from which a movement of money is a significant event."""

from pathlib import Path

from django.db import migrations

from audit.initial_migration import RowsMigration


class Migration(RowsMigration):
    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text())]

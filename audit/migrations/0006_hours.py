"""Hours that are summed up, and the marks that say when nothing more can come; the rest is in ``audit/sql/0006_hours.sql``."""

from pathlib import Path

from django.db import migrations, models

import audit.models.clock


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0005_retention'),
    ]

    operations = [
        migrations.CreateModel(
            name='Mark',
            fields=[
                ('at', models.DateTimeField(db_default=audit.models.clock.Clock(), primary_key=True, serialize=False)),
                ('transaction', models.BigIntegerField()),
            ],
            options={
                'db_table': 'audit_mark',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Rolled',
            fields=[
                ('pk', models.CompositePrimaryKey('sums', 'hour', blank=True, editable=False, primary_key=True, serialize=False)),
                ('sums', models.TextField()),
                ('hour', models.DateTimeField()),
                ('rows', models.BigIntegerField()),
                ('at', models.DateTimeField(db_default=audit.models.clock.Clock())),
            ],
            options={
                'db_table': 'audit_rolled',
                'default_permissions': (),
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0006_hours.sql").read_text()),
    ]

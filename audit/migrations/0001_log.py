"""The event log: tables as the models say, then what Django cannot say: ``audit/sql/0001_log.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.TextField()),
                ('by', models.TextField()),
                ('on', models.TextField()),
                ('body', models.BinaryField()),
            ],
            options={
                'db_table': 'audit_event',
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='Personal',
            fields=[
                ('pk', models.CompositePrimaryKey('event_id', 'field', blank=True, editable=False, primary_key=True, serialize=False)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='audit.event')),
                ('field', models.TextField()),
                ('salt', models.BinaryField()),
                ('value', models.TextField()),
            ],
            options={
                'db_table': 'audit_personal',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Pending',
            fields=[
                ('event', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='audit.event')),
            ],
            options={
                'db_table': 'audit_pending',
                'default_permissions': (),
            },
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['kind', 'id'], name='audit_event_kind'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['on', 'id'], name='audit_event_on'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['by', 'id'], name='audit_event_by'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / 'sql' / '0001_log.sql').read_text()),
    ]

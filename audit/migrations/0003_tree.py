"""The tree over the event log: leaves, tiles, signed checkpoints; the rest is in ``audit/sql/0003_tree.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import audit.models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_approvals'),
    ]

    operations = [
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('size', models.BigIntegerField(primary_key=True, serialize=False)),
                ('root', models.BinaryField()),
                ('at', models.DateTimeField()),
                ('note', models.TextField()),
            ],
            options={
                'db_table': 'audit_checkpoint',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Tile',
            fields=[
                ('pk', models.CompositePrimaryKey('level', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('level', models.SmallIntegerField()),
                ('number', models.BigIntegerField()),
                ('hashes', models.BinaryField()),
            ],
            options={
                'db_table': 'audit_tile',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Leaf',
            fields=[
                ('leaf', models.BigIntegerField(primary_key=True, serialize=False)),
                ('event', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to='audit.event')),
            ],
            options={
                'db_table': 'audit_leaf',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('to', models.TextField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('failure', models.TextField(blank=True, default='')),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='audit.checkpoint')),
            ],
            options={
                'db_table': 'audit_delivery',
                'default_permissions': (),
                'indexes': [models.Index(fields=['to', '-id'], name='audit_delivery_latest')],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0003_tree.sql").read_text()),
    ]

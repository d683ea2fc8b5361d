"""Cards and shuffles as they were dealt; the rest is in ``games/sql/0017_randomness.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0016_returns'),
    ]

    operations = [
        migrations.CreateModel(
            name='ShuffleTally',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'decks', 'mode', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('decks', models.PositiveSmallIntegerField()),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('shuffles', models.BigIntegerField()),
                ('counts', models.JSONField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CardTally',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('rounds', models.BigIntegerField()),
                ('counts', models.JSONField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0017_randomness.sql").read_text()),
    ]

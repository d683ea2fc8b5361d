"""What was played in each hour; the rest is in ``games/sql/0015_tallies.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0014_keeping'),
        ('audit', '0006_hours'),
    ]

    operations = [
        migrations.CreateModel(
            name='BetTally',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', 'currency', 'bet', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('currency', models.CharField(max_length=3)),
                ('bet', models.CharField(max_length=20)),
                ('rounds', models.BigIntegerField()),
                ('wagers', models.BigIntegerField()),
                ('staked', models.BigIntegerField()),
                ('paid', models.BigIntegerField()),
                ('commission', models.BigIntegerField()),
                ('squares', models.DecimalField(decimal_places=0, max_digits=40)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Tally',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', 'currency', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('currency', models.CharField(max_length=3)),
                ('rounds', models.BigIntegerField()),
                ('parts', models.BigIntegerField()),
                ('staked', models.BigIntegerField()),
                ('paid', models.BigIntegerField()),
                ('commission', models.BigIntegerField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0015_tallies.sql").read_text()),
    ]

"""Significant events, the work on them, and thresholds; the rest is in ``audit/sql/0008_significant.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import audit.models.clock


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0007_reports'),
    ]

    operations = [
        migrations.CreateModel(
            name='Cursor',
            fields=[
                ('name', models.TextField(primary_key=True, serialize=False)),
                ('leaves', models.BigIntegerField(default=0)),
            ],
            options={
                'db_table': 'audit_cursor',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Muted',
            fields=[
                ('pk', models.CompositePrimaryKey('who', 'category', blank=True, editable=False, primary_key=True, serialize=False)),
                ('who', models.TextField()),
                ('category', models.TextField(choices=[('log_in', 'Failed log-ins'), ('error', 'Errors and mismatches'), ('standstill', 'Play stood still'), ('large_win', 'Large wins'), ('large_wager', 'Large wagers'), ('large_payment', 'Large payments'), ('correction', 'Voids, overrides and corrections'), ('parameter', 'Changed parameters, rules and paytables'), ('adjustment', 'Adjusted balances'), ('personal', 'Changed personal data'), ('deactivation', 'Deactivations'), ('negative', 'Negative balances'), ('laundering', 'Signs of money laundering'), ('returns', 'Returns and randomness')])),
            ],
            options={
                'db_table': 'audit_significant_muted',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Pulse',
            fields=[
                ('who', models.TextField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
            options={
                'db_table': 'audit_pulse',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Threshold',
            fields=[
                ('pk', models.CompositePrimaryKey('what', 'currency', blank=True, editable=False, primary_key=True, serialize=False)),
                ('what', models.TextField()),
                ('currency', models.CharField(max_length=3)),
                ('single', models.BigIntegerField()),
                ('summed', models.BigIntegerField()),
                ('days', models.PositiveSmallIntegerField()),
            ],
            options={
                'db_table': 'audit_threshold',
                'default_permissions': ('change',),
            },
        ),
        migrations.CreateModel(
            name='Significant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.TextField(unique=True)),
                ('category', models.TextField(choices=[('log_in', 'Failed log-ins'), ('error', 'Errors and mismatches'), ('standstill', 'Play stood still'), ('large_win', 'Large wins'), ('large_wager', 'Large wagers'), ('large_payment', 'Large payments'), ('correction', 'Voids, overrides and corrections'), ('parameter', 'Changed parameters, rules and paytables'), ('adjustment', 'Adjusted balances'), ('personal', 'Changed personal data'), ('deactivation', 'Deactivations'), ('negative', 'Negative balances'), ('laundering', 'Signs of money laundering'), ('returns', 'Returns and randomness')])),
                ('weight', models.IntegerField(choices=[(1, 'to be seen'), (2, 'to be looked into; e-mailed at once')])),
                ('on', models.TextField()),
                ('currency', models.CharField(blank=True, default='', max_length=3)),
                ('amount', models.BigIntegerField(null=True)),
                ('title', models.TextField()),
                ('because', models.TextField(blank=True, default='')),
                ('rows', models.JSONField(default=list)),
                ('happened_at', models.DateTimeField()),
                ('at', models.DateTimeField(db_default=audit.models.clock.Clock())),
                ('state', models.TextField(choices=[('new', 'new'), ('seen', 'acknowledged'), ('closed', 'closed')], default='new')),
                ('assigned_to', models.TextField(blank=True, default='')),
                ('mailed_at', models.DateTimeField(null=True)),
                ('event', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='audit.event')),
            ],
            options={
                'db_table': 'audit_significant',
                'permissions': [('handle_significant', 'Can work on significant events')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='SignificantStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.TextField(choices=[('acknowledged', 'acknowledged'), ('commented', 'commented'), ('assigned', 'assigned'), ('closed', 'closed'), ('reopened', 'reopened')])),
                ('by', models.TextField()),
                ('to', models.TextField(blank=True, default='')),
                ('words', models.TextField(blank=True, default='')),
                ('at', models.DateTimeField(db_default=audit.models.clock.Clock())),
                ('significant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='audit.significant')),
            ],
            options={
                'db_table': 'audit_significant_step',
                'default_permissions': (),
            },
        ),
        migrations.AddIndex(
            model_name='significant',
            index=models.Index(fields=['state', '-id'], name='audit_significant_work'),
        ),
        migrations.AddIndex(
            model_name='significant',
            index=models.Index(fields=['category', '-id'], name='audit_significant_category'),
        ),
        migrations.AddIndex(
            model_name='significant',
            index=models.Index(fields=['on', '-id'], name='audit_significant_on'),
        ),
        migrations.AddIndex(
            model_name='significant',
            index=models.Index(condition=models.Q(('assigned_to', ''), _negated=True), fields=['assigned_to', '-id'], name='audit_significant_whose'),
        ),
        migrations.AddIndex(
            model_name='significant',
            index=models.Index(condition=models.Q(('weight', 2)), fields=['mailed_at', 'id'], name='audit_significant_mailed'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0008_significant.sql").read_text()),
    ]

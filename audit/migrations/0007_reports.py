"""Reports as they were made; the rest is in ``audit/sql/0007_reports.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import audit.models.clock


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_hours'),
    ]

    operations = [
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.TextField()),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('choices', models.JSONField(default=dict)),
                ('by', models.TextField()),
                ('asked_at', models.DateTimeField(db_default=audit.models.clock.Clock())),
                ('state', models.TextField(choices=[('waiting', 'waiting to be made'), ('making', 'being made'), ('ready', 'ready'), ('failed', 'could not be made')], default='waiting')),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('done', models.BigIntegerField(default=0)),
                ('of', models.BigIntegerField(null=True)),
                ('moved_at', models.DateTimeField(db_default=audit.models.clock.Clock())),
                ('made_at', models.DateTimeField(null=True)),
                ('head', models.JSONField(null=True)),
                ('failure', models.TextField(blank=True, default='')),
                ('digests', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'audit_report',
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['kind', '-id'], name='audit_report_kind'), models.Index(condition=models.Q(('state__in', ('waiting', 'making'))), fields=['asked_at'], name='audit_report_open')],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('since__lt', models.F('until'))), name='audit_report_interval'),
                    models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'making', 'ready', 'failed'])), name='audit_report_state'),
                    models.UniqueConstraint(condition=models.Q(('by', 'system')), fields=('kind', 'since'), name='audit_report_daily'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ReportPage',
            fields=[
                ('pk', models.CompositePrimaryKey('report_id', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('rows', models.JSONField()),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='pages', to='audit.report')),
            ],
            options={
                'db_table': 'audit_report_page',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ReportPart',
            fields=[
                ('pk', models.CompositePrimaryKey('report_id', 'format', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('format', models.TextField()),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='parts', to='audit.report')),
            ],
            options={
                'db_table': 'audit_report_part',
                'default_permissions': (),
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0007_reports.sql").read_text()),
    ]

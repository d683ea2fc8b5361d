"""The event log, its tree, approvals, retention, hours, reports and significant events; ``0001_initial.sql`` has the rest."""

import audit.models
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

from audit.initial_migration import InitialMigration


class Migration(InitialMigration):

    partitioned = {'Event': 'id'}

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Approval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.TextField()),
                ('on', models.TextField()),
                ('request', models.TextField()),
                ('sha256', models.BinaryField()),
                ('by', models.TextField()),
                ('person', models.UUIDField()),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'audit_approval',
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['on', 'id'], name='audit_approval_on'), models.Index(fields=['kind', '-id'], name='audit_approval_kind')],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('approval', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='audit.approval')),
                ('verdict', models.CharField(choices=[('approved', 'Approved'), ('refused', 'Refused'), ('expired', 'Expired'), ('withdrawn', 'Withdrawn')], max_length=9)),
                ('by', models.TextField()),
                ('asker', models.UUIDField()),
                ('person', models.UUIDField(null=True)),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'audit_decision',
                'default_permissions': (),
                'indexes': [models.Index(fields=['verdict', '-approval'], name='audit_decision_verdict')],
            },
        ),
        migrations.CreateModel(
            name='Watermark',
            fields=[
                ('at', models.DateTimeField(db_default=audit.models.Clock(), primary_key=True, serialize=False)),
                ('transaction', models.BigIntegerField()),
            ],
            options={
                'db_table': 'audit_watermark',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Rolled',
            fields=[
                ('pk', models.CompositePrimaryKey('totals', 'hour', blank=True, editable=False, primary_key=True, serialize=False)),
                ('totals', models.TextField()),
                ('hour', models.DateTimeField()),
                ('rows', models.BigIntegerField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'audit_rolled',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.TextField()),
                ('by', models.TextField()),
                ('on', models.TextField()),
                ('body', models.BinaryField()),
                ('salt', models.BinaryField(db_default=audit.models.Salt(), null=True)),
            ],
            options={
                'db_table': 'audit_event',
                'permissions': [('export_rows', 'Can export lists')],
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['kind', 'id'], name='audit_event_kind'), models.Index(fields=['on', 'id'], name='audit_event_on'), models.Index(fields=['by', 'id'], name='audit_event_by')],
            },
        ),
        migrations.CreateModel(
            name='Pending',
            fields=[
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='audit.event')),
            ],
            options={
                'db_table': 'audit_pending',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Personal',
            fields=[
                ('pk', models.CompositePrimaryKey('event_id', 'field', blank=True, editable=False, primary_key=True, serialize=False)),
                ('event', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to='audit.event')),
                ('field', models.TextField()),
                ('salt', models.BinaryField()),
                ('value', models.TextField()),
            ],
            options={
                'db_table': 'audit_personal',
                'default_permissions': (),
                'indexes': [models.Index(fields=['field', 'event'], name='audit_personal_field')],
            },
        ),
        migrations.CreateModel(
            name='Leaf',
            fields=[
                ('leaf', models.BigIntegerField(primary_key=True, serialize=False)),
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to='audit.event')),
            ],
            options={
                'db_table': 'audit_leaf',
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
            name='Cosignature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='audit.checkpoint')),
                ('witness', models.TextField()),
                ('line', models.TextField(blank=True, default='')),
                ('failure', models.TextField(blank=True, default='')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'audit_cosignature',
                'default_permissions': (),
                'indexes': [models.Index(fields=['witness', '-id'], name='audit_cosignature_latest')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='audit.checkpoint')),
                ('to', models.TextField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('failure', models.TextField(blank=True, default='')),
            ],
            options={
                'db_table': 'audit_delivery',
                'default_permissions': (),
                'indexes': [models.Index(fields=['to', '-id'], name='audit_delivery_latest')],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.TextField()),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('choices', models.JSONField(default=dict)),
                ('by', models.TextField()),
                ('asked_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('state', models.TextField(choices=[('waiting', 'queued'), ('making', 'in progress'), ('ready', 'ready'), ('failed', 'failed')], default='waiting')),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('done', models.BigIntegerField(default=0)),
                ('of', models.BigIntegerField(null=True)),
                ('changed_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('made_at', models.DateTimeField(null=True)),
                ('head', models.JSONField(null=True)),
                ('failure', models.TextField(blank=True, default='')),
                ('digests', models.JSONField(default=dict)),
            ],
            options={
                'db_table': 'audit_report',
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['kind', '-id'], name='audit_report_kind'), models.Index(condition=models.Q(('state__in', ('waiting', 'making'))), fields=['asked_at'], name='audit_report_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(('since__lt', models.F('until'))), name='audit_report_interval'), models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'making', 'ready', 'failed'])), name='audit_report_state'), models.UniqueConstraint(condition=models.Q(('by', 'system')), fields=('kind', 'since'), name='audit_report_daily')],
            },
        ),
        migrations.CreateModel(
            name='ReportPage',
            fields=[
                ('pk', models.CompositePrimaryKey('report_id', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='pages', to='audit.report')),
                ('number', models.PositiveIntegerField()),
                ('rows', models.JSONField()),
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
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='parts', to='audit.report')),
                ('format', models.TextField()),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
            ],
            options={
                'db_table': 'audit_report_part',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Retention',
            fields=[
                ('what', models.TextField(choices=[('account', 'Personal data, after the account is closed'), ('conversation', 'Messages with players, after the last message'), ('chat', 'Chat messages'), ('refused papers', 'Refused documents, after the refusal'), ('mail', 'Recipients and subjects of e-mails'), ('address', 'IP addresses and browsers of log-ins, play and registrations'), ('wrong log-in', 'E-mail addresses entered in failed log-ins'), ('look', 'IP addresses and requests in the access log')], primary_key=True, serialize=False)),
                ('days', models.IntegerField()),
                ('minimum', models.IntegerField()),
                ('fields', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('source', models.TextField()),
                ('approval', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='audit.approval')),
            ],
            options={
                'db_table': 'audit_retention',
                'default_permissions': ('change',),
            },
        ),
        migrations.CreateModel(
            name='Significant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.TextField(unique=True)),
                ('category', models.TextField(choices=[('log_in', 'Failed log-ins'), ('error', 'Errors and mismatches'), ('standstill', 'Play interruptions'), ('large_win', 'Large wins'), ('large_wager', 'Large wagers'), ('large_payment', 'Large payments'), ('correction', 'Voids, overrides and corrections'), ('parameter', 'Parameter, rule and paytable changes'), ('adjustment', 'Balance adjustments'), ('personal', 'Personal data changes'), ('deactivation', 'Deactivations'), ('negative', 'Negative balances'), ('laundering', 'AML alerts'), ('returns', 'RTP and randomness')])),
                ('weight', models.IntegerField(choices=[(1, 'notice'), (2, 'alert, e-mailed at once')])),
                ('event', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='audit.event')),
                ('on', models.TextField()),
                ('currency', models.CharField(blank=True, default='', max_length=3)),
                ('amount', models.BigIntegerField(null=True)),
                ('title', models.TextField()),
                ('because', models.JSONField(default=list)),
                ('rows', models.JSONField(default=list)),
                ('happened_at', models.DateTimeField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('state', models.TextField(choices=[('new', 'new'), ('seen', 'acknowledged'), ('closed', 'closed'), ('case', 'handled as a case')], default='new')),
                ('assigned_to', models.TextField(blank=True, default='')),
                ('mailed_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'audit_significant',
                'permissions': [('handle_significant', 'Can work on significant events')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['state', '-id'], name='audit_significant_work'), models.Index(fields=['category', 'id'], name='audit_significant_category'), models.Index(fields=['category', 'state', '-id'], name='audit_significant_both'), models.Index(fields=['on', '-id'], name='audit_significant_on'), models.Index(condition=models.Q(('assigned_to', ''), _negated=True), fields=['assigned_to', '-id'], name='audit_significant_whose'), models.Index(condition=models.Q(('weight', 2)), fields=['mailed_at', 'id'], name='audit_significant_mailed')],
            },
        ),
        migrations.CreateModel(
            name='SignificantStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('significant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='audit.significant')),
                ('step', models.TextField(choices=[('acknowledged', 'acknowledged'), ('commented', 'commented'), ('assigned', 'assigned'), ('closed', 'closed'), ('reopened', 'reopened')])),
                ('by', models.TextField()),
                ('to', models.TextField(blank=True, default='')),
                ('text', models.TextField(blank=True, default='')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'audit_significant_step',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Muted',
            fields=[
                ('pk', models.CompositePrimaryKey('who', 'category', blank=True, editable=False, primary_key=True, serialize=False)),
                ('who', models.TextField()),
                ('category', models.TextField(choices=[('log_in', 'Failed log-ins'), ('error', 'Errors and mismatches'), ('standstill', 'Play interruptions'), ('large_win', 'Large wins'), ('large_wager', 'Large wagers'), ('large_payment', 'Large payments'), ('correction', 'Voids, overrides and corrections'), ('parameter', 'Parameter, rule and paytable changes'), ('adjustment', 'Balance adjustments'), ('personal', 'Personal data changes'), ('deactivation', 'Deactivations'), ('negative', 'Negative balances'), ('laundering', 'AML alerts'), ('returns', 'RTP and randomness')])),
            ],
            options={
                'db_table': 'audit_significant_muted',
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
            name='VerificationFinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.TextField(unique=True)),
                ('part', models.TextField()),
                ('verified', models.TextField()),
                ('on', models.TextField()),
                ('text', models.TextField()),
                ('first_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('last_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('cleared_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'verification_finding',
                'default_permissions': (),
                'indexes': [models.Index(fields=['cleared_at', '-id'], name='verification_finding_open')],
            },
        ),
        migrations.CreateModel(
            name='VerificationRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_whole', models.BooleanField()),
                ('parts', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('began_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('ended_at', models.DateTimeField(null=True)),
                ('first', models.BigIntegerField()),
                ('next', models.BigIntegerField()),
                ('beyond', models.BigIntegerField()),
                ('marks', models.JSONField()),
                ('findings', models.BigIntegerField(db_default=0)),
            ],
            options={
                'db_table': 'verification_run',
                'default_permissions': (),
                'indexes': [models.Index(fields=['is_whole', '-id'], name='verification_run_newest')],
            },
        ),
    ]

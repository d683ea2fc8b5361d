"""Players, staff, protection, support and API tokens; ``0001_initial.sql`` has what Django cannot declare."""

import audit.models
import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models

from audit.initial_migration import InitialMigration


class Migration(InitialMigration):

    dependencies = [
        ('audit', '0001_initial'),
        ('players', '0000_user'),
        # Each of their migrations renders every model again that is related to a user: before ours, those are few.
        ('account', '0009_emailaddress_unique_primary_email'),
        ('mfa', '0003_authenticator_type_uniq'),
    ]

    operations = [
        migrations.CreateModel(
            name='Jurisdiction',
            fields=[
                ('code', models.CharField(max_length=2, primary_key=True, serialize=False)),
                ('language', models.CharField(max_length=2, verbose_name='language offered first')),
                ('currencies', models.JSONField(verbose_name='currencies, the usual one first')),
                ('minimum_age', models.PositiveSmallIntegerField(help_text='years', verbose_name='minimum age')),
                ('time_zone', models.CharField(max_length=40, verbose_name='time zone of days, weeks (from Monday) and months')),
                ('deposit_limits', models.CharField(choices=[('required', 'Required'), ('offered', 'Offered'), ('prompted', 'Prompted')], max_length=10, verbose_name='deposit limits before play')),
                ('deposit_periods', models.JSONField(verbose_name='periods of deposit limits')),
                ('highest_month_deposit', models.BigIntegerField(null=True, verbose_name='highest deposits in a month')),
                ('raise_after_hours', models.PositiveSmallIntegerField(help_text='h', verbose_name='a looser limit waits')),
                ('raise_after_period', models.BooleanField(verbose_name='a looser limit waits until the running period ends')),
                ('contact_above_month', models.BigIntegerField(null=True, verbose_name='staff get in touch above deposits a month of')),
                ('pause_hours', models.PositiveSmallIntegerField(help_text='h', verbose_name='pause button')),
                ('pause_asks', models.BooleanField(verbose_name='the pause button asks before it pauses')),
                ('exclusion_days', models.PositiveSmallIntegerField(help_text='days', verbose_name='shortest self-exclusion')),
                ('permanent_days', models.PositiveSmallIntegerField(help_text='days', verbose_name='a permanent self-exclusion can be reopened after')),
                ('may_cancel_withdrawals', models.BooleanField(verbose_name='a player can cancel a withdrawal')),
                ('may_play_in_parallel', models.BooleanField(verbose_name='play at several tables at once')),
                ('complaint_days', models.PositiveSmallIntegerField(help_text='days', verbose_name='a complaint is decided within')),
                ('reopen_days', models.PositiveSmallIntegerField(help_text='days', verbose_name='a player can have a complaint opened again for')),
                ('seconds_between_games', models.PositiveSmallIntegerField(help_text='s', verbose_name='from the start of a game for real money to the next')),
                ('may_hurry_results', models.BooleanField(verbose_name='a player can show a result sooner than the table')),
                ('api_clients_may_play', models.BooleanField(verbose_name='API clients play for real money')),
                ('asks_licence', models.BooleanField(verbose_name='real money asks for a licence of a Land')),
                ('licence', models.CharField(blank=True, db_default='', default='', max_length=120)),
                ('limit_reminder_days', models.PositiveSmallIntegerField(help_text='days', null=True, verbose_name='reminder of the limits every')),
                ('identity_before_play', models.BooleanField(verbose_name='identity is confirmed before play for real money')),
                ('credit_forbidden', models.BooleanField(verbose_name='deposits by credit are forbidden')),
                ('raise_confirmed', models.BooleanField(verbose_name='a looser limit is confirmed after the wait')),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.CheckConstraint(condition=models.Q(('minimum_age__gte', 18)), name='players_jurisdiction_adults', violation_error_message='Players must be at least 18 years old.'), models.CheckConstraint(condition=models.Q(('deposit_limits__in', ['required', 'offered', 'prompted']), ('deposit_periods__contained_by', ['day', 'week', 'month']), models.Q(('deposit_periods', []), _negated=True)), name='players_jurisdiction_limits', violation_error_message='The periods are day, week and month, at least one of them.'), models.CheckConstraint(condition=models.Q(('raise_after_hours__gte', 24)), name='players_jurisdiction_waits', violation_error_message='A looser limit waits at least 24 hours.'), models.CheckConstraint(condition=models.Q(('highest_month_deposit__gt', 0), ('highest_month_deposit', None), _connector='OR'), name='players_jurisdiction_highest', violation_error_message='The amount must be more than zero.'), models.CheckConstraint(condition=models.Q(('contact_above_month__gt', 0), ('contact_above_month', None), _connector='OR'), name='players_jurisdiction_contact', violation_error_message='The amount must be more than zero.'), models.CheckConstraint(condition=models.Q(('complaint_days__gte', 1), ('exclusion_days__gte', 1), ('pause_hours__gte', 1)), name='players_jurisdiction_lasts', violation_error_message='The time must be more than zero.'), models.CheckConstraint(condition=models.Q(('permanent_days__gte', models.F('exclusion_days'))), name='players_jurisdiction_permanent', violation_error_message='A permanent exclusion is not reopened before the shortest one ends.'), models.CheckConstraint(condition=models.Q(('limit_reminder_days__gt', 0), ('limit_reminder_days', None), _connector='OR'), name='players_jurisdiction_reminders', violation_error_message='The time must be more than zero.')],
            },
        ),
        migrations.CreateModel(
            name='Player',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('jurisdiction', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.jurisdiction')),
                ('currency', models.CharField(max_length=3)),
                ('birth_date', models.DateField()),
                ('uses_operator_wallet', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['jurisdiction', 'id'], name='players_player_where')],
            },
        ),
        migrations.CreateModel(
            name='Agreement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('terms_version', models.CharField(max_length=20)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('player', 'terms_version'), name='players_agreement_once')],
            },
        ),
        migrations.CreateModel(
            name='Staff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=120)),
                ('person', models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID())),
            ],
            options={
                'permissions': [('work', 'Can enter the back office'), ('ask_staff', 'Can request changes to staff accounts'), ('decide_staff', 'Can decide changes to staff accounts')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='AccountLock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('locks', models.BooleanField()),
                ('reason', models.CharField(max_length=500)),
                ('by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
            ],
            options={
                'permissions': [('lock_player', 'Can lock and unlock player accounts')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_accountlock_of')],
                'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='players_accountlock_reason')],
            },
        ),
        migrations.CreateModel(
            name='BorrowedMoney',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('is_marked', models.BooleanField()),
                ('reason', models.CharField(max_length=500)),
                ('by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('approval', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='audit.approval')),
            ],
            options={
                'db_table': 'players_borrowed_money',
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_borrowed_money_of')],
                'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='players_borrowed_money_reason')],
            },
        ),
        migrations.CreateModel(
            name='ApprovalNotification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('approval', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='audit.approval')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'players_approval_notification',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Closure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('state', models.CharField(choices=[('closing', 'Closing'), ('closed', 'Closed'), ('erased', 'Erased')], max_length=10)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['state', '-id'], name='players_closure_state'), models.Index(fields=['state', '-player'], name='players_closure_whose')],
                'constraints': [models.UniqueConstraint(fields=('player', 'state'), name='players_closure_once')],
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('given_names', models.CharField(max_length=120)),
                ('family_name', models.CharField(max_length=120)),
                ('street', models.CharField(max_length=200)),
                ('postal_code', models.CharField(max_length=20)),
                ('city', models.CharField(max_length=120)),
                ('phone', models.CharField(blank=True, max_length=20)),
                ('document_kind', models.CharField(blank=True, choices=[('passport', 'Passport'), ('card', 'Card'), ('licence', 'Licence')], max_length=10)),
                ('document_number', models.CharField(blank=True, max_length=40)),
                ('sent_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('status', models.CharField(choices=[('submitted', 'Submitted'), ('verified', 'Verified'), ('refused', 'Refused'), ('stated', 'Stated')], default='submitted', max_length=10)),
                ('reviewed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('reviewed_at', models.DateTimeField(null=True)),
                ('reason', models.CharField(blank=True, choices=[('unreadable', 'Unreadable'), ('expired', 'Expired'), ('mismatch', 'Mismatch'), ('address', 'Address'), ('incomplete', 'Incomplete'), ('altered', 'Altered'), ('another_account', 'Another Account')], max_length=20)),
                ('note', models.TextField(blank=True)),
                ('register', models.CharField(blank=True, max_length=40)),
            ],
            options={
                'permissions': [('review_identity', 'Can review identity documents')],
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('status', 'submitted')), fields=['sent_at'], name='players_to_review'), models.Index(fields=['status', '-id'], name='players_submission_status')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'submitted')), fields=('player',), name='players_submission_one_open'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('register', ''), ('reviewed_at', None), ('reviewed_by', None), ('status__in', ['submitted', 'stated'])), models.Q(('reason', ''), ('register', ''), ('reviewed_at__isnull', False), ('reviewed_by__isnull', False), ('status', 'verified')), models.Q(('reason', ''), ('reviewed_at__isnull', False), ('reviewed_by', None), ('status', 'verified'), models.Q(('register', ''), _negated=True)), models.Q(('reviewed_at__isnull', False), ('reviewed_by__isnull', False), ('status', 'refused'), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='players_submission_reviewed')],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.submission')),
                ('part', models.CharField(choices=[('front', 'Front'), ('back', 'Back'), ('address', 'Address')], max_length=10)),
                ('media_type', models.CharField(max_length=20)),
                ('size', models.PositiveIntegerField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('submission', 'part'), name='players_document_once')],
            },
        ),
        migrations.CreateModel(
            name='DocumentContent',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='content', serialize=False, to='players.document')),
                ('sealed', models.BinaryField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Trait',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('ground', models.CharField(choices=[('name', 'Name'), ('address', 'Address'), ('number', 'Number'), ('picture', 'Picture'), ('phone', 'Phone'), ('payout', 'Payout'), ('person', 'Person')], max_length=10)),
                ('fingerprint', models.BinaryField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('ground', 'fingerprint', 'player'), name='players_trait_once')],
            },
        ),
        migrations.CreateModel(
            name='Identity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('by', models.CharField(max_length=60)),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Duplicate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('ground', models.CharField(choices=[('name', 'Name'), ('address', 'Address'), ('number', 'Number'), ('picture', 'Picture'), ('phone', 'Phone'), ('payout', 'Payout'), ('person', 'Person')], max_length=10)),
                ('found_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('resolution', models.CharField(blank=True, choices=[('same', 'Same'), ('different', 'Different')], max_length=10)),
                ('resolved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('resolved_at', models.DateTimeField(null=True)),
                ('note', models.TextField(blank=True)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('resolution', '')), fields=['found_at', 'id'], name='players_duplicate_open'), models.Index(condition=models.Q(('resolution', ''), _negated=True), fields=['resolved_at', 'id'], name='players_duplicate_decided')],
                'constraints': [models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='players_duplicate_in_order'), models.UniqueConstraint(fields=('first', 'second', 'ground'), name='players_duplicate_once'), models.CheckConstraint(condition=models.Q(models.Q(('resolution', ''), ('resolved_at', None), ('resolved_by', None)), models.Q(models.Q(('resolution', ''), _negated=True), ('resolved_at__isnull', False), ('resolved_by__isnull', False)), _connector='OR'), name='players_duplicate_resolved')],
            },
        ),
        migrations.CreateModel(
            name='LimitChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('source', models.CharField(choices=[('player', 'Player'), ('house', 'House')], max_length=10)),
                ('kind', models.CharField(choices=[('deposit', 'Deposit'), ('loss', 'Loss'), ('stake', 'Stake'), ('time', 'Time')], max_length=10)),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], max_length=10)),
                ('before', models.BigIntegerField(null=True)),
                ('amount', models.BigIntegerField(null=True)),
                ('asked_at', models.DateTimeField()),
                ('effective_at', models.DateTimeField()),
                ('needs_confirmation', models.BooleanField(db_default=False, default=False)),
                ('asked_by', models.CharField(max_length=40)),
                ('reason', models.CharField(max_length=500)),
            ],
            options={
                'permissions': [('set_limits', 'Can set limits for a player')],
                'default_permissions': (),
                'indexes': [models.Index(models.F('player'), models.F('source'), models.F('kind'), models.F('period'), models.OrderBy(models.F('id'), descending=True), name='players_limit_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('source__in', ['player', 'house'])), name='players_limit_source'), models.CheckConstraint(condition=models.Q(('kind__in', ['deposit', 'loss', 'stake', 'time'])), name='players_limit_kind'), models.CheckConstraint(condition=models.Q(('period__in', ['day', 'week', 'month'])), name='players_limit_period'), models.CheckConstraint(condition=models.Q(('amount__gte', 0)), name='players_limit_amount'), models.CheckConstraint(condition=models.Q(('effective_at__gte', models.F('asked_at'))), name='players_limit_order')],
            },
        ),
        migrations.CreateModel(
            name='LimitOffer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='limit_offer', to='players.player')),
                ('answered_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='LogInLock',
            fields=[
                ('name', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('tries', django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), size=None)),
                ('locked_at', models.DateTimeField(null=True)),
                ('code_hash', models.CharField(blank=True, db_default='', max_length=64)),
                ('code_ends_at', models.DateTimeField(null=True)),
                ('code_tries', models.PositiveSmallIntegerField(db_default=0)),
                ('codes_sent', django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), db_default=[], size=None)),
            ],
            options={
                'db_table': 'players_log_in_lock',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Mail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('address', models.EmailField(max_length=254)),
                ('language', models.CharField(max_length=2)),
                ('template', models.CharField(max_length=60)),
                ('subject', models.CharField(max_length=200)),
                ('written_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('next_try_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('last_error', models.CharField(blank=True, max_length=200)),
                ('sent_at', models.DateTimeField(null=True)),
                ('sealed_body', models.BinaryField(default=b'')),
            ],
            options={
                'db_table': 'players_mail',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('next_try_at__isnull', False)), fields=['next_try_at'], name='players_mail_due'), models.Index(fields=['address', 'id'], name='players_mail_address'), models.Index(condition=models.Q(('next_try_at', None), ('sent_at', None)), fields=['-id'], name='players_mail_given_up')],
            },
        ),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('kind', models.CharField(choices=[('marker', 'Marker of harm'), ('aml', 'AML alert'), ('funds', 'Source of funds'), ('screening', 'Sanctions and PEP'), ('duplicate', 'Possible duplicate'), ('complaint', 'Complaint')], max_length=12)),
                ('subject', models.CharField(blank=True, max_length=60)),
                ('opened_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('opened_by', models.TextField()),
                ('due_at', models.DateTimeField()),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='cases', to='players.staff')),
                ('holds', models.BooleanField(default=False)),
                ('closed_at', models.DateTimeField(null=True)),
                ('closed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.staff')),
                ('outcome', models.CharField(blank=True, choices=[('no_concern', 'No reason for concern'), ('talked', 'Discussed with the player'), ('limited', 'Limit set'), ('excluded', 'Player excluded or paused'), ('explained', 'Explained and documented'), ('reported', 'Reported to the authority'), ('ended', 'Business with the player ended'), ('other_person', 'Another person: false match'), ('same', 'One person'), ('different', 'Different people'), ('upheld', 'Complaint upheld'), ('partly', 'Complaint partly upheld'), ('rejected', 'Complaint not upheld'), ('by_player', 'Closed by the player')], max_length=12)),
            ],
            options={
                'permissions': [('see_flags', 'Can see and handle markers of harm')],
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('closed_at', None)), fields=['due_at', 'id'], name='players_case_due')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('closed_at', None)), fields=('player', 'kind', 'subject'), name='players_case_open'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at', None), ('closed_by', None), ('outcome', '')), models.Q(('closed_at__isnull', False), ('closed_by__isnull', False), models.Q(('outcome__in', ['', 'by_player']), _negated=True)), models.Q(('closed_at__isnull', False), ('closed_by', None), ('kind', 'complaint'), ('outcome', 'by_player')), _connector='OR'), name='players_case_closed'), models.CheckConstraint(condition=models.Q(('holds', True), ('kind__in', ['marker', 'complaint']), _negated=True), name='players_case_pays_at_risk')],
            },
        ),
        migrations.CreateModel(
            name='CaseEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='players.case')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('by', models.TextField()),
                ('action', models.CharField(choices=[('opened', 'Opened'), ('assigned', 'Assigned'), ('due', 'Deadline set'), ('noted', 'Note'), ('linked', 'Linked'), ('held', 'Payouts held'), ('closed', 'Closed'), ('reopened', 'Reopened'), ('overdue', 'Became overdue')], max_length=8)),
                ('to', models.TextField(blank=True)),
                ('text', models.TextField(blank=True)),
            ],
            options={
                'db_table': 'players_case_entry',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ScreeningEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list', models.CharField(max_length=40)),
                ('key', models.CharField(max_length=80)),
                ('topic', models.CharField(choices=[('sanctions', 'Sanctions'), ('pep', 'Politically exposed')], max_length=10)),
                ('name', models.TextField()),
                ('names', models.JSONField()),
                ('born', models.CharField(blank=True, max_length=10)),
                ('published', models.DateField()),
                ('listed_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('removed_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'players_screening_entry',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('list', 'key'), name='players_screening_entry_once'), models.CheckConstraint(condition=models.Q(('born__regex', '^(\\d{4}(-\\d\\d-\\d\\d)?)?$')), name='players_screening_entry_born')],
            },
        ),
        migrations.CreateModel(
            name='ScreeningReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('published', models.DateField(null=True)),
                ('entries', models.IntegerField()),
                ('reason', models.TextField(blank=True)),
            ],
            options={
                'db_table': 'players_screening_reading',
                'default_permissions': (),
                'indexes': [models.Index(fields=['list', '-id'], name='players_screening_reading_list')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('published__isnull', False), ('reason', '')), models.Q(('published', None), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='players_screening_reading_whole')],
            },
        ),
        migrations.CreateModel(
            name='Sighting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sightings', to='players.case')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('began', models.DateTimeField()),
                ('ended', models.DateTimeField()),
                ('degree', models.BigIntegerField()),
                ('message', models.TextField()),
                ('rows', models.JSONField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Contact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='contacts', to='players.case')),
                ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('made_at', models.DateTimeField()),
                ('way', models.CharField(choices=[('message', 'Message on the site'), ('email', 'E-mail'), ('phone', 'Telephone'), ('none', 'No contact needed')], max_length=8)),
                ('said', models.TextField()),
                ('next_review', models.DateField(null=True)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('made_at__lte', models.F('at'))), name='players_contact_was_made')],
            },
        ),
        migrations.CreateModel(
            name='HarmMarkerScan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('seen', models.DateTimeField()),
                ('event_id', models.BigIntegerField()),
                ('players', models.PositiveIntegerField()),
                ('flags', models.PositiveIntegerField()),
            ],
            options={
                'db_table': 'players_marker_scan',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('text', models.CharField(max_length=2000)),
                ('restricted', models.BooleanField(default=False)),
            ],
            options={
                'permissions': [('note_players', 'Can read and write notes about players')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_note_of')],
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=30)),
                ('made_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('retired_at', models.DateTimeField(null=True)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(condition=models.Q(('retired_at', None)), fields=('name',), name='players_tag_once')],
            },
        ),
        migrations.CreateModel(
            name='PlayerTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('tag', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.tag')),
                ('by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('removed_at', models.DateTimeField(null=True)),
                ('removed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.staff')),
            ],
            options={
                'db_table': 'players_player_tag',
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_player_tag_of')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('player', 'tag'), name='players_player_tag_once')],
            },
        ),
        migrations.CreateModel(
            name='SavedFilter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('page', models.CharField(max_length=100)),
                ('name', models.CharField(max_length=40)),
                ('query', models.CharField(max_length=1000)),
                ('role', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='auth.group')),
            ],
            options={
                'db_table': 'players_saved_filter',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('page', 'staff', 'name'), name='players_saved_filter_name'), models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('query', ''), _negated=True)), name='players_saved_filter_said')],
            },
        ),
        migrations.CreateModel(
            name='ChosenColumns',
            fields=[
                ('pk', models.CompositePrimaryKey('staff', 'page', blank=True, editable=False, primary_key=True, serialize=False)),
                ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('page', models.CharField(max_length=100)),
                ('columns', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), size=None)),
            ],
            options={
                'db_table': 'players_chosen_columns',
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('columns', []), _negated=True), name='players_chosen_columns_some')],
            },
        ),
        migrations.CreateModel(
            name='ReportSchedule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.TextField()),
                ('rhythm', models.CharField(choices=[('daily', 'daily'), ('weekly', 'weekly'), ('monthly', 'monthly')], max_length=7)),
                ('zone', models.TextField()),
                ('choices', models.JSONField(default=dict)),
                ('delivery', models.CharField(choices=[('mail', 'e-mail with a link'), ('folder', 'files in a folder')], max_length=6)),
                ('state', models.CharField(choices=[('active', 'active'), ('paused', 'paused'), ('ended', 'ended')], default='active', max_length=6)),
                ('next_at', models.DateTimeField()),
                ('failure', models.TextField(blank=True, default='')),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
            ],
            options={
                'db_table': 'players_report_schedule',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('state', 'active')), fields=['next_at'], name='players_report_schedule_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('rhythm__in', ['daily', 'weekly', 'monthly'])), name='players_report_schedule_rhythm'), models.CheckConstraint(condition=models.Q(('delivery__in', ['mail', 'folder'])), name='players_report_schedule_delivery'), models.CheckConstraint(condition=models.Q(('state__in', ['active', 'paused', 'ended'])), name='players_report_schedule_state')],
            },
        ),
        migrations.CreateModel(
            name='ScheduledReport',
            fields=[
                ('report', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='audit.report')),
                ('delivered_at', models.DateTimeField(null=True)),
                ('failure', models.TextField(blank=True, default='')),
                ('schedule', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='players.reportschedule')),
            ],
            options={
                'db_table': 'players_scheduled_report',
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('delivered_at', None)), fields=['report'], name='players_scheduled_report_open')],
            },
        ),
        migrations.CreateModel(
            name='SearchWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('field', models.CharField(choices=[('name', 'Name'), ('address', 'Address')], max_length=7)),
                ('word', models.TextField(db_collation='C')),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['field', 'word', 'player'], name='players_searchword_find')],
                'constraints': [models.UniqueConstraint(fields=('player', 'field', 'word'), name='players_searchword_once')],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('begins_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('shown_from', models.DateTimeField()),
                ('shown_until', models.DateTimeField()),
                ('texts', models.JSONField()),
                ('by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.staff')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('withdrawn_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.staff')),
                ('reason', models.CharField(blank=True, max_length=300)),
            ],
            options={
                'db_table': 'players_notice',
                'permissions': [('publish_notices', 'Can publish and withdraw notices')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('kind', models.CharField(choices=[('pause', 'Pause'), ('time_out', 'Time-out'), ('self', 'Self-exclusion'), ('staff', "Exclusion by the casino")], max_length=8)),
                ('begun', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('until', models.DateTimeField(null=True)),
                ('reason', models.CharField(db_default='', default='', max_length=500)),
                ('by', models.CharField(max_length=40)),
            ],
            options={
                'permissions': [('exclude_player', 'Can exclude players')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['kind', '-id'], name='players_exclusion_kind')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ['self', 'staff']), ('until__isnull', True)), ('until__gt', models.F('begun')), _connector='OR'), name='players_exclusion_lasts'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'staff'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='players_exclusion_reason')],
            },
        ),
        migrations.CreateModel(
            name='ExclusionLift',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('exclusion', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='lift', to='players.exclusion')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('reason', models.CharField(max_length=500)),
                ('asked_by', models.CharField(max_length=40)),
                ('decided_by', models.CharField(max_length=40)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('asked_by', models.F('decided_by')), _negated=True), name='players_exclusionlift_two_people')],
            },
        ),
        migrations.CreateModel(
            name='RegisterCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('register', models.CharField(max_length=40)),
                ('outcome', models.CharField(choices=[('clear', 'Clear'), ('excluded', 'Excluded'), ('unreachable', 'Unreachable'), ('dropped', 'Dropped')], max_length=11)),
                ('until', models.DateTimeField(null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', 'register', '-id'], name='players_registercheck_last'), models.Index(condition=models.Q(('outcome', 'clear'), _negated=True), fields=['outcome', '-id'], name='players_registercheck_hits')],
            },
        ),
        migrations.CreateModel(
            name='RealityCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('minutes', models.PositiveSmallIntegerField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_realitycheck_last')],
            },
        ),
        migrations.CreateModel(
            name='PlaySession',
            fields=[
                ('session', models.UUIDField(primary_key=True, serialize=False)),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('began', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('checked_at', models.DateTimeField(null=True)),
                ('rounds', models.PositiveIntegerField(db_default=0, default=0)),
                ('staked_real', models.BigIntegerField(db_default=0, default=0)),
                ('paid_real', models.BigIntegerField(db_default=0, default=0)),
                ('staked_free', models.BigIntegerField(db_default=0, default=0)),
                ('paid_free', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='PlayTime',
            fields=[
                ('pk', models.CompositePrimaryKey('player_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('day', models.DateField()),
                ('seconds', models.PositiveIntegerField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ReplyTemplate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(db_index=False, max_length=40)),
                ('number', models.PositiveSmallIntegerField()),
                ('kind', models.CharField(choices=[('question', 'Answer to a question'), ('complaint', 'Answer to a complaint'), ('chat', 'About the chat')], max_length=10)),
                ('title', models.CharField(max_length=100)),
                ('texts', models.JSONField()),
                ('by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'players_reply_template',
                'permissions': [('write_replies', 'Can write and withdraw reply templates')],
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('name', 'number'), name='players_reply_template_once')],
            },
        ),
        migrations.CreateModel(
            name='ReplyWithdrawal',
            fields=[
                ('template', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='withdrawal', serialize=False, to='players.replytemplate')),
                ('by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('reason', models.CharField(max_length=300)),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'players_reply_withdrawal',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('topic', models.CharField(choices=[('question', 'A question'), ('complaint', 'A complaint'), ('money', 'Deposits and withdrawals'), ('protection', "Responsible gambling"), ('other', 'Something else')], max_length=10)),
                ('round_id', models.UUIDField(null=True)),
                ('round_code', models.CharField(blank=True, max_length=14)),
                ('state', models.CharField(choices=[('received', 'Received'), ('looking', "Under review"), ('answered', 'Answered'), ('closed', 'Closed'), ('reopened', "Reopened")], default='received', max_length=8)),
                ('is_unread', models.BooleanField(default=False)),
                ('began_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('reopen_until', models.DateTimeField(null=True)),
            ],
            options={
                'permissions': [('answer_service', 'Can answer players'), ('decide_complaint', 'Can decide and reopen complaints')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_conversation_mine'), models.Index(condition=models.Q(('state__in', ('received', 'looking', 'reopened'))), fields=['changed_at', 'id'], name='players_conversation_waits'), models.Index(condition=models.Q(('state', 'answered')), fields=['changed_at', 'id'], name='players_conversation_said'), models.Index(condition=models.Q(('state', 'closed')), fields=['-changed_at', '-id'], name='players_conversation_over')],
                'constraints': [models.CheckConstraint(condition=models.Q(('topic', 'complaint'), models.Q(('reopen_until', None), models.Q(('state__in', ['looking', 'reopened']), _negated=True)), _connector='OR'), name='players_complaint_alone')],
            },
        ),
        migrations.CreateModel(
            name='ServiceMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='players.conversation')),
                ('staff', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.staff')),
                ('text', models.TextField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='BrowserSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('log_in', models.UUIDField(null=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('ip', models.CharField(max_length=45)),
                ('browser', models.CharField(max_length=300)),
                ('began_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('acted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
                ('why', models.CharField(choices=[('logged out', 'Logged Out'), ('timed out', 'Idle'), ('ended from another session', 'Elsewhere'), ('password changed', 'Password'), ('account closed', 'Closed'), ('ended by the house', 'House'), ('token revoked', 'Revoked')], default='', max_length=30)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('ended_at', None)), fields=['acted_at'], name='players_session_running'), models.Index(fields=['user', '-began_at', '-id'], name='players_session_of'), models.Index(fields=['-began_at', '-id'], name='players_session_newest'), models.Index(condition=models.Q(('ip', ''), _negated=True), fields=['ip', 'user'], name='players_session_ip'), models.Index(django.db.models.functions.text.MD5('browser'), models.F('user'), condition=models.Q(('browser', ''), _negated=True), name='players_session_browser')],
            },
        ),
        migrations.CreateModel(
            name='NationalRuleChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('jurisdiction', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.jurisdiction')),
                ('rule', models.CharField(max_length=40)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField()),
                ('source', models.CharField(choices=[('R', 'read in the text of the rule'), ('S', 'second hand, from summaries'), ('c', 'our choice')], max_length=1)),
                ('approval', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.approval')),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'players_national_rule_change',
                'permissions': [('ask_national_rules', 'Can request changes of national rules'), ('decide_national_rules', 'Can decide changes of national rules')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['jurisdiction', 'rule', '-id'], name='players_national_rule_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('source__in', ['R', 'S', 'c'])), name='players_national_rule_change_source')],
            },
        ),
        migrations.CreateModel(
            name='LimitReminder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('is_review', models.BooleanField(default=False)),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='players_limitreminder_newest')],
            },
        ),
        migrations.CreateModel(
            name='StaffChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('approval', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='audit.approval')),
                ('kind', models.CharField(choices=[('staff.make', 'account created'), ('staff.roles', 'roles changed'), ('staff.suspend', 'account suspended'), ('staff.disable', 'account disabled'), ('staff.enable', 'account enabled'), ('staff.factors', 'second factors reset')], max_length=20)),
                ('before', models.JSONField()),
                ('after', models.JSONField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'players_staff_change',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('approval', 'kind'), name='players_staff_change_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tokens', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=60)),
                ('start', models.CharField(max_length=14)),
                ('digest', models.BinaryField(unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'Read'), ('play', 'Play'), ('limits', 'Limits'), ('events', 'Events'), ('rounds', 'Rounds'), ('reports', 'Reports'), ('checkpoints', 'Checkpoints')], max_length=20), size=None)),
                ('per_minute', models.PositiveIntegerField()),
                ('made_at', models.DateTimeField(db_default=audit.models.Clock())),
                ('ends_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('used_from', models.CharField(blank=True, max_length=45)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('session', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.session')),
            ],
            options={
                'db_table': 'players_api_token',
                'permissions': [('use_tokens', 'Can create API tokens')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['user', '-id'], name='players_api_token_of')],
            },
        ),
        migrations.CreateModel(
            name='ApiCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.apitoken')),
                ('key', models.CharField(max_length=100)),
                ('request_hash', models.BinaryField()),
                ('status', models.PositiveSmallIntegerField()),
                ('body', models.TextField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'db_table': 'players_api_call',
                'default_permissions': (),
                'indexes': [models.Index(fields=['at'], name='players_api_call_at')],
                'constraints': [models.UniqueConstraint(fields=('token', 'key'), name='players_api_call_once')],
            },
        ),
    ]

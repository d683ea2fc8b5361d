"""Tables, rounds, shoes, chat, Chemin de Fer, incidents and hourly totals; ``0001_initial.sql`` has the rest."""

import audit.models
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.math
import django.db.models.functions.text
from django.db import migrations, models

from audit.initial_migration import InitialMigration


class Migration(InitialMigration):

    dependencies = [
        ('audit', '0001_initial'),
        ('players', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ChatName',
            fields=[
                ('player', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='players.player')),
                ('name', models.CharField(max_length=20)),
                ('chosen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='games_chatname_once')],
            },
        ),
        migrations.CreateModel(
            name='ChatNameTaken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('name', models.CharField(max_length=20)),
                ('grounds', models.CharField(choices=[('abuse', 'Abuse or threats'), ('spam', 'Spam'), ('advertising', 'Begging, selling or advertising'), ('private', "Private information"), ('cheating', 'Collusion'), ('impostor', 'Impersonation'), ('other', 'Other violation')], max_length=11)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='games_chatnametaken_once')],
            },
        ),
        migrations.CreateModel(
            name='ChatBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('blocked', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('player', 'blocked'), name='games_chatblock_once')],
            },
        ),
        migrations.CreateModel(
            name='FavouriteBet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('variant', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=40)),
                ('stakes', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(models.F('player'), models.F('variant'), django.db.models.functions.text.Lower('name'), name='games_favouritebet_once')],
            },
        ),
        migrations.CreateModel(
            name='ChipSet',
            fields=[
                ('player', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='players.player')),
                ('chips', models.JSONField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='RulesVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('variant', models.CharField(max_length=40)),
                ('version', models.CharField(max_length=20)),
                ('digest', models.CharField(max_length=64)),
                ('body', models.JSONField()),
                ('available_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'permissions': [('change_table', 'Can request tables and table versions'), ('decide_table', 'Can decide requests for tables and table versions')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['variant', '-id'], name='games_rulesversion_variant')],
            },
        ),
        migrations.CreateModel(
            name='ScheduledVersion',
            fields=[
                ('approval', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='audit.approval')),
                ('due_at', models.DateTimeField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ScheduleEnding',
            fields=[
                ('schedule', models.OneToOneField(db_column='approval_id', on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='ending', serialize=False, to='games.scheduledversion')),
                ('how', models.CharField(choices=[('live', 'went live'), ('withdrawn', 'withdrawn'), ('failed', 'could not go live')], max_length=9)),
                ('by', models.TextField()),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ReturnsAlarm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rules_digest', models.CharField(max_length=64)),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('variant', models.CharField(max_length=40)),
                ('rounds', models.BigIntegerField()),
                ('evidence', models.TextField()),
                ('bets', models.JSONField()),
                ('stopped', models.JSONField(default=list)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('variant', 'rules_digest', 'mode'), name='games_returnsalarm_once')],
            },
        ),
        migrations.CreateModel(
            name='StopPolicy',
            fields=[
                ('variant', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('stops', models.BooleanField()),
                ('by', models.CharField(max_length=40)),
                ('reason', models.CharField(max_length=300)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': ('change',),
            },
        ),
        migrations.CreateModel(
            name='ShuffleHourlyTotal',
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
            name='Table',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('name', models.CharField(max_length=80)),
                ('variant', models.CharField(max_length=40)),
                ('shape', models.CharField(choices=[('solo', 'solo, on demand'), ('shared', 'shared, in timed rounds'), ('chemin', 'players against each other')], db_default='solo', default='solo', max_length=6)),
                ('status', models.CharField(choices=[('open', 'open'), ('paused', 'paused'), ('closed', 'closed')], db_default='closed', default='closed', max_length=6)),
                ('first_opened_at', models.DateTimeField(editable=False, null=True)),
                ('chat_language', models.CharField(blank=True, db_default='', default='', max_length=2)),
            ],
            options={
                'permissions': [('operate_table', 'Can open and close tables')],
                'default_permissions': ('view',),
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['open', 'paused', 'closed'])), name='games_table_status'), models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='games_table_name_once')],
            },
        ),
        migrations.CreateModel(
            name='TableVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='games.table')),
                ('number', models.PositiveIntegerField()),
                ('rules_version', models.CharField(max_length=20)),
                ('rules_digest', models.CharField(max_length=64)),
                ('limits', models.JSONField()),
                ('clock', models.JSONField(null=True)),
                ('jurisdictions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2), size=None)),
                ('modes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=1), size=None)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('approval', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.approval')),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('table', 'number'), name='games_tableversion_number'), models.CheckConstraint(condition=models.Q(models.Q(('jurisdictions', []), _negated=True), models.Q(('modes', []), _negated=True), ('modes__contained_by', ['F', 'R'])), name='games_tableversion_for_somebody')],
            },
        ),
        migrations.CreateModel(
            name='FavouriteTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.table')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('player', 'table'), name='games_favouritetable_once')],
            },
        ),
        migrations.CreateModel(
            name='SoloSeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.table')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('round_id', models.UUIDField(unique=True)),
                ('commitment', models.CharField(max_length=64)),
                ('sealed_seed', models.BinaryField()),
                ('rules_digest', models.CharField(db_default='', default='', max_length=64)),
                ('slip', models.JSONField(default=dict)),
                ('slip_version', models.IntegerField(default=0)),
                ('undo', models.JSONField(default=list)),
                ('last_stakes', models.JSONField(default=dict)),
                ('last_round', models.UUIDField(null=True)),
                ('unseen', models.UUIDField(null=True)),
                ('last_chip', models.BigIntegerField(null=True)),
                ('idempotency_keys', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None)),
                ('used_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('player', 'table', 'mode'), name='games_soloseat_player_table')],
            },
        ),
        migrations.CreateModel(
            name='OpenTable',
            fields=[
                ('player', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='players.player')),
                ('table', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='games.table')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('game_session_id', models.BigIntegerField(null=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='LastGame',
            fields=[
                ('player', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='players.player')),
                ('game', models.UUIDField()),
                ('began_at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='GameHourlyTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', 'currency', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('currency', models.CharField(max_length=3)),
                ('rounds', models.BigIntegerField()),
                ('parts', models.BigIntegerField()),
                ('staked', models.BigIntegerField()),
                ('paid', models.BigIntegerField()),
                ('commission', models.BigIntegerField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='BetHourlyTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', 'currency', 'bet', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('currency', models.CharField(max_length=3)),
                ('bet', models.CharField(max_length=20)),
                ('rounds', models.BigIntegerField()),
                ('wagers', models.BigIntegerField()),
                ('staked', models.BigIntegerField()),
                ('paid', models.BigIntegerField()),
                ('commission', models.BigIntegerField()),
                ('squares', models.DecimalField(decimal_places=0, max_digits=40)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='PlayerHourlyTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'player_id', 'version_id', 'currency', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('player', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('currency', models.CharField(max_length=3)),
                ('rounds', models.BigIntegerField()),
                ('staked', models.BigIntegerField()),
                ('paid', models.BigIntegerField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Evidence',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', 'bet', 'gain', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('bet', models.CharField(max_length=20)),
                ('gain', models.CharField(max_length=12)),
                ('rounds', models.BigIntegerField()),
            ],
            options={
                'permissions': [('view_returns', 'Can view RTP and randomness')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CardHourlyTotal',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('rounds', models.BigIntegerField()),
                ('counts', models.JSONField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Shoe',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('decks', models.PositiveSmallIntegerField()),
                ('rules_digest', models.CharField(max_length=64)),
                ('commitment', models.CharField(max_length=64)),
                ('entropy', models.CharField(default='', max_length=64)),
                ('root', models.CharField(max_length=64)),
                ('burn_card', models.CharField(max_length=2)),
                ('burn_salt', models.BinaryField()),
                ('burned', models.PositiveSmallIntegerField()),
                ('cut', models.PositiveSmallIntegerField()),
                ('gone', models.PositiveSmallIntegerField()),
                ('dealer_key', models.CharField(max_length=64)),
                ('signature', models.BinaryField()),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seed', models.BinaryField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('ending', models.CharField(blank=True, choices=[('cut_card', 'dealt to the cut card'), ('retired', 'retired after a voided round')], default='', max_length=8)),
                ('lock_only', models.BooleanField(db_default=False)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('ending', ''), ('seed__isnull', True)), models.Q(('ended_at__isnull', False), ('ending__in', ['cut_card', 'retired'])), _connector='OR'), name='games_shoe_seed_when_ended'), models.UniqueConstraint(fields=('commitment',), name='games_shoe_commitment')],
            },
        ),
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=14)),
                ('table_version', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('commitment', models.CharField(max_length=64)),
                ('seed', models.BinaryField(null=True)),
                ('shoe', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='games.shoe')),
                ('first_card', models.SmallIntegerField(null=True)),
                ('player_value', models.CharField(max_length=64)),
                ('cards', models.CharField(max_length=40)),
                ('outcome', models.CharField(max_length=6)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': ('view',),
                'constraints': [models.UniqueConstraint(fields=('code',), name='games_round_code')],
            },
        ),
        migrations.CreateModel(
            name='VerificationDue',
            fields=[
                ('round', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='games.round')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Participation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.round')),
                ('player', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('currency', models.CharField(max_length=3)),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('balance_before', models.BigIntegerField()),
                ('balance_after', models.BigIntegerField()),
                ('staked', models.BigIntegerField()),
                ('paid', models.BigIntegerField()),
                ('commission', models.BigIntegerField()),
                ('session', models.UUIDField(null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('table', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.table')),
                ('result', models.GeneratedField(db_persist=True, expression=django.db.models.functions.math.Sign(django.db.models.expressions.CombinedExpression(models.F('paid'), '-', models.F('staked'))), output_field=models.SmallIntegerField(choices=[(-1, 'Lost'), (0, 'Even'), (1, 'Won')]))),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', 'mode', 'table', 'result', '-at', '-id'], name='games_participation_search'), models.Index(fields=['table', 'mode', '-at', '-id'], name='games_participation_by_table'), models.Index(fields=['currency', 'staked'], name='games_participation_staked'), models.Index(fields=['currency', 'paid'], name='games_participation_paid')],
                'constraints': [models.UniqueConstraint(fields=('round', 'player'), name='games_participation_once')],
            },
        ),
        migrations.CreateModel(
            name='Wager',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('participation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='wagers', to='games.participation')),
                ('bet', models.CharField(max_length=20)),
                ('stake', models.BigIntegerField()),
                ('payout', models.BigIntegerField()),
                ('commission', models.BigIntegerField()),
                ('result', models.CharField(max_length=4)),
            ],
            options={
                'managed': False,
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Void',
            fields=[
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='games.round')),
                ('reason', models.CharField(choices=[('not_reproduced', 'seed does not reproduce the round'), ('overdue', 'not dealt in time'), ('cancelled', 'cancelled before the deal'), ('decided', 'decided by two people after an incident')], max_length=20)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='VoidPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('void', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='parts', to='games.void')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('currency', models.CharField(max_length=3)),
                ('returned', models.BigIntegerField()),
                ('shortfall', models.BigIntegerField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('void', 'player'), name='games_voidpart_once')],
            },
        ),
        migrations.CreateModel(
            name='VoidNotice',
            fields=[
                ('part', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='games.voidpart')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='LiveRound',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
                ('shoe', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='live_rounds', to='games.shoe')),
                ('number', models.PositiveSmallIntegerField()),
                ('is_last', models.BooleanField()),
                ('code', models.CharField(max_length=14)),
                ('phase', models.CharField(choices=[('betting', 'betting open'), ('closed', 'no more bets'), ('dealt', 'cards are drawn and revealed'), ('settled', 'paid; the next round opens after the deadline'), ('void', 'void, or ended without a bet; the next round opens after the deadline')], max_length=7)),
                ('deadline', models.DateTimeField()),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('closed_at', models.DateTimeField(null=True)),
                ('dealt_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('first_card', models.PositiveSmallIntegerField(null=True)),
                ('cards', models.CharField(default='', max_length=40)),
                ('salt', models.BinaryField(null=True)),
                ('lock_only', models.BooleanField(db_default=False)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['-opened_at', '-id'], name='games_liveround_newest'), models.Index(condition=models.Q(('phase', 'void')), fields=['-opened_at', '-id'], name='games_liveround_void')],
                'constraints': [models.UniqueConstraint(fields=('shoe', 'number'), name='games_liveround_number')],
            },
        ),
        migrations.CreateModel(
            name='LiveTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.liveround')),
                ('currency', models.CharField(max_length=3)),
                ('stakes', models.JSONField(default=dict)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('round', 'currency'), name='games_livetotal_once')],
            },
        ),
        migrations.CreateModel(
            name='Incident',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('not_reproduced', 'Seed does not reproduce the round'), ('rules_unknown', 'Rules of the round are not installed'), ('ledger_refuses', 'Seed does not reproduce the round, and the ledger cannot reverse it'), ('phase_raised', 'Round could not continue'), ('overdue', 'Round exceeded its deadline'), ('wrong_card', 'Shoe differs from the shuffle'), ('not_recomputed', 'Settlement cannot be reproduced'), ('not_dealt', 'No proof that the dealer dealt the round'), ('reported', 'Reported by staff')], max_length=20)),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.table')),
                ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='games.round')),
                ('live_round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='games.liveround')),
                ('cause', models.TextField(db_default='', default='')),
                ('cards', models.CharField(db_default='', default='', max_length=40)),
                ('findings', models.JSONField()),
                ('done', models.JSONField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'permissions': [('supervise_table', 'Can rule on incidents and void rounds of shared tables')],
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['kind', '-id'], name='games_incident_kind')],
                'constraints': [models.UniqueConstraint(fields=('round', 'kind'), name='games_incident_once')],
            },
        ),
        migrations.CreateModel(
            name='LiveTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='live', to='games.table')),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('shoe', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.shoe')),
                ('round', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.liveround')),
                ('stopped_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.incident')),
                ('lock_only', models.BooleanField(db_default=False)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('table', 'mode'), name='games_livetable_once')],
            },
        ),
        migrations.CreateModel(
            name='LiveSeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('account_id', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('round_id', models.UUIDField(null=True)),
                ('stakes', models.JSONField(default=dict)),
                ('version', models.PositiveIntegerField(default=0)),
                ('undo', models.JSONField(default=list)),
                ('last_stakes', models.JSONField(default=dict)),
                ('last_chip', models.PositiveBigIntegerField(null=True)),
                ('session', models.UUIDField(null=True)),
                ('idempotency_keys', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['round_id'], name='games_liveseat_round')],
                'constraints': [models.UniqueConstraint(fields=('live_table', 'player'), name='games_liveseat_once')],
            },
        ),
        migrations.CreateModel(
            name='ChatMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('name', models.CharField(max_length=20)),
                ('language', models.CharField(max_length=2)),
                ('text', models.CharField(max_length=200)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('removed_at', models.DateTimeField(null=True)),
                ('removed_by', models.CharField(blank=True, max_length=40)),
                ('removed_for', models.CharField(blank=True, choices=[('abuse', 'Abuse or threats'), ('spam', 'Spam'), ('advertising', 'Begging, selling or advertising'), ('private', "Private information"), ('cheating', 'Collusion'), ('impostor', 'Impersonation'), ('other', 'Other violation')], db_default='', default='', max_length=11)),
                ('removed_note', models.CharField(blank=True, db_default='', default='', max_length=300)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['live_table', '-id'], name='games_chatmessage_table'), models.Index(fields=['player', '-id'], name='games_chatmessage_player'), models.Index(fields=['at'], name='games_chatmessage_at'), models.Index(condition=models.Q(('removed_at__isnull', False)), fields=['live_table', 'removed_at'], name='games_chatmessage_removed'), models.Index(django.db.models.functions.text.Lower('name'), name='games_chatmessage_name')],
            },
        ),
        migrations.CreateModel(
            name='ChatReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='games.chatmessage')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('reason', models.CharField(choices=[('abuse', 'Abuse or threats'), ('begging', 'Begging or selling'), ('private', "Private information"), ('cheating', 'Collusion'), ('other', 'Other')], max_length=8)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('decision', models.CharField(blank=True, choices=[('removed', 'Message removed'), ('kept', 'Message kept')], default='', max_length=7)),
                ('decided_by', models.CharField(blank=True, default='', max_length=40)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'permissions': [('moderate_chat', 'Can moderate the chat'), ('read_chat', 'Can read the chat log')],
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('decision', '')), fields=['at'], name='games_chatreport_open'), models.Index(fields=['player', '-id'], name='games_chatreport_of')],
                'constraints': [models.UniqueConstraint(fields=('message', 'player'), name='games_chatreport_once')],
            },
        ),
        migrations.CreateModel(
            name='ChatBan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('live_table', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('until', models.DateTimeField(null=True)),
                ('grounds', models.CharField(choices=[('abuse', 'Abuse or threats'), ('spam', 'Spam'), ('advertising', 'Begging, selling or advertising'), ('private', "Private information"), ('cheating', 'Collusion'), ('impostor', 'Impersonation'), ('other', 'Other violation')], db_default='other', default='other', max_length=11)),
                ('reason', models.CharField(max_length=300)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('lifted_at', models.DateTimeField(null=True)),
                ('lifted_by', models.CharField(blank=True, default='', max_length=40)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['player', '-id'], name='games_chatban_player')],
            },
        ),
        migrations.CreateModel(
            name='CheminSeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='chemin_seats', to='games.livetable')),
                ('number', models.PositiveSmallIntegerField()),
                ('player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('account_id', models.BigIntegerField()),
                ('session', models.UUIDField(null=True)),
                ('idempotency_keys', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None)),
                ('is_random', models.BooleanField(default=False)),
                ('missed', models.PositiveSmallIntegerField(default=0)),
                ('away_since', models.DateTimeField(null=True)),
                ('joined_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('left_at', models.DateTimeField(null=True)),
                ('why_left', models.CharField(blank=True, choices=[('wish', 'left'), ('removed', 'was away too long'), ('session', 'logged out, or may not play'), ('closed', 'the table was closed'), ('broken_up', 'the table was broken up by staff'), ('unserved', 'may no longer play at this table'), ('alone', 'house player without an opponent')], default='', max_length=10)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(condition=models.Q(('left_at', None)), fields=('live_table', 'number'), name='games_cheminseat_number'), models.UniqueConstraint(condition=models.Q(('left_at', None)), fields=('live_table', 'player'), name='games_cheminseat_player')],
            },
        ),
        migrations.CreateModel(
            name='CheminTenure',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('seat', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
                ('account_id', models.BigIntegerField()),
                ('put_up', models.BigIntegerField()),
                ('home', models.BigIntegerField(default=0)),
                ('began_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CheminTable',
            fields=[
                ('live_table', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='chemin', serialize=False, to='games.livetable')),
                ('state', models.JSONField()),
                ('move', models.PositiveBigIntegerField(default=0)),
                ('question', models.PositiveBigIntegerField(default=0)),
                ('asked_at', models.DateTimeField(null=True)),
                ('deadline', models.DateTimeField(null=True)),
                ('tenure', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.chemintenure')),
                ('sale_id', models.UUIDField(null=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CheminCoup',
            fields=[
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='coup', serialize=False, to='games.liveround')),
                ('tenure', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.chemintenure')),
                ('banker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.cheminseat')),
                ('banker_player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('bank', models.BigIntegerField()),
                ('call', models.CharField(blank=True, max_length=24)),
                ('at_risk', models.BigIntegerField()),
                ('punter', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.cheminseat')),
                ('outcome', models.CharField(blank=True, max_length=6)),
                ('punter_total', models.PositiveSmallIntegerField(null=True)),
                ('banker_total', models.PositiveSmallIntegerField(null=True)),
                ('punter_draws', models.BooleanField(null=True)),
                ('banker_draws', models.BooleanField(null=True)),
                ('punter_departs', models.BooleanField(default=False)),
                ('banker_departs', models.BooleanField(default=False)),
                ('tax', models.BigIntegerField(default=0)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['-at', '-round'], name='games_chemincoup_newest'), models.Index(fields=['outcome', '-at', '-round'], name='games_chemincoup_outcome')],
            },
        ),
        migrations.CreateModel(
            name='CheminStake',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('coup', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='stakes', to='games.chemincoup')),
                ('seat', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
                ('player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('stake', models.BigIntegerField()),
                ('returned', models.BigIntegerField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('coup', 'seat'), name='games_cheminstake_once')],
            },
        ),
        migrations.CreateModel(
            name='CheminMove',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('number', models.PositiveBigIntegerField()),
                ('round_id', models.UUIDField(null=True)),
                ('tenure_id', models.UUIDField(null=True)),
                ('seat', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
                ('kind', models.CharField(max_length=16)),
                ('amount', models.BigIntegerField(null=True)),
                ('call', models.CharField(blank=True, max_length=24)),
                ('decider', models.CharField(choices=[('player', 'the player'), ('croupier', 'the croupier, by the rule, after a timeout'), ('house_player', 'a house player'), ('house', 'the house')], max_length=12)),
                ('events', models.JSONField()),
                ('asked_at', models.DateTimeField(null=True)),
                ('at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('round_id__isnull', False)), fields=['round_id'], name='games_cheminmove_coup')],
                'constraints': [models.UniqueConstraint(fields=('live_table', 'number'), name='games_cheminmove_number')],
            },
        ),
        migrations.CreateModel(
            name='PlayReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('reporter', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('seat', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
                ('round_id', models.UUIDField(null=True)),
                ('reason', models.CharField(choices=[('chip_dumping', 'chip dumping'), ('soft_play', 'soft play'), ('signs', 'communication during play'), ('other', 'other')], max_length=12)),
                ('text', models.CharField(blank=True, max_length=500)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finding', models.CharField(blank=True, choices=[('nothing', 'no violation'), ('watched', 'under observation'), ('acted', 'action taken')], default='', max_length=8)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('decided_by', models.CharField(blank=True, default='', max_length=40)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'permissions': [('examine_play', 'Can see signs of collusion and decide collusion reports')],
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('decided_at', None)), fields=['at'], name='games_playreport_open')],
            },
        ),
        migrations.CreateModel(
            name='IncidentRuling',
            fields=[
                ('incident', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='ruling', serialize=False, to='games.incident')),
                ('ruling', models.CharField(choices=[('stands', 'the round stands'), ('void', 'the round is void')], max_length=6)),
                ('by', models.CharField(max_length=40)),
                ('reason', models.CharField(max_length=300)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='IncidentNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('incident', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='notes', to='games.incident')),
                ('text', models.CharField(max_length=1000)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='IncidentLetter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('incident', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='letters', to='games.incident')),
                ('round_id', models.UUIDField()),
                ('kind', models.CharField(choices=[('voided', 'Round voided, stakes returned'), ('stands', 'Round reviewed and confirmed'), ('completed', 'Round interrupted and completed'), ('shortfall', 'Shortfall covered by the house'), ('apology', 'Apology')], max_length=9)),
                ('sentences', models.JSONField(default=dict)),
                ('by', models.CharField(max_length=40)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('round_id', 'kind'), name='games_incidentletter_once')],
            },
        ),
        migrations.CreateModel(
            name='LetterEnd',
            fields=[
                ('letter', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='end', serialize=False, to='games.incidentletter')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='LetterCopy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('letter', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='copies', to='games.incidentletter')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('language', models.CharField(max_length=2)),
                ('conversation', models.BigIntegerField()),
                ('mail', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='players.mail')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('letter', 'player'), name='games_lettercopy_once')],
            },
        ),
        migrations.AddField(
            model_name='table',
            name='version',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.tableversion'),
        ),
        migrations.AddField(
            model_name='shoe',
            name='live_table',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='shoes', to='games.livetable'),
        ),
        migrations.AddConstraint(
            model_name='shoe',
            constraint=models.UniqueConstraint(fields=('live_table', 'number'), name='games_shoe_number'),
        ),
        migrations.AddField(
            model_name='liveround',
            name='live_table',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='rounds', to='games.livetable'),
        ),
        migrations.AddIndex(
            model_name='liveround',
            index=models.Index(fields=['live_table', '-opened_at', '-id'], name='games_liveround_table'),
        ),
        migrations.AddConstraint(
            model_name='liveround',
            constraint=models.UniqueConstraint(condition=models.Q(('phase__in', ('betting', 'closed', 'dealt'))), fields=('live_table',), name='games_liveround_one_open'),
        ),
        migrations.CreateModel(
            name='HighestOdds',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rules_digest', models.CharField(max_length=64)),
                ('bet', models.CharField(max_length=20)),
                ('outcome', models.CharField(max_length=6)),
                ('win', models.IntegerField()),
                ('per', models.PositiveIntegerField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('rules_digest', 'outcome', 'bet'), name='games_highestodds_once')],
            },
        ),
        migrations.CreateModel(
            name='BetCombinations',
            fields=[
                ('rules_digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('exclusions', models.JSONField()),
                ('needs', models.JSONField()),
                ('wins', models.JSONField()),
                ('decks', models.PositiveSmallIntegerField(db_default=0)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ShoeCut',
            fields=[
                ('live_table', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='cut', serialize=False, to='games.livetable')),
                ('shoe_id', models.UUIDField()),
                ('commitment', models.CharField(max_length=64)),
                ('begun_at', models.DateTimeField()),
                ('bound_until', models.DateTimeField()),
                ('open_until', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ShoeChance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shoe_id', models.UUIDField()),
                ('digest', models.CharField(max_length=64)),
                ('value', models.CharField(default='', max_length=32)),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('shoe_id', 'player'), name='games_shoechance_once')],
            },
        ),
        migrations.CreateModel(
            name='ShoeBeacon',
            fields=[
                ('shoe_id', models.UUIDField(primary_key=True, serialize=False)),
                ('chain', models.CharField(max_length=64)),
                ('round', models.BigIntegerField()),
                ('wait_until', models.DateTimeField()),
                ('signature', models.CharField(default='', max_length=96)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ShoeLeaves',
            fields=[
                ('shoe', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='leaves', serialize=False, to='games.shoe')),
                ('leaves', models.BinaryField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='DealtCards',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first_card', models.PositiveSmallIntegerField()),
                ('round_id', models.UUIDField()),
                ('cards', models.CharField(max_length=17)),
                ('salts', models.BinaryField()),
                ('sealed', models.BinaryField(null=True)),
                ('stakes', models.CharField(max_length=64)),
                ('dealer_key', models.CharField(max_length=64)),
                ('signature', models.BinaryField()),
                ('shoe', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='dealt_cards', to='games.shoe')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('shoe', 'first_card'), name='games_dealtcards_once')],
            },
        ),
        migrations.CreateModel(
            name='Squeeze',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('side', models.CharField(max_length=6)),
                ('round_id', models.UUIDField()),
                ('card', models.PositiveSmallIntegerField()),
                ('share', models.PositiveSmallIntegerField()),
                ('turned', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), size=None)),
                ('at', models.DateTimeField(null=True)),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('live_table', 'side'), name='games_squeeze_once')],
            },
        ),
        migrations.CreateModel(
            name='DealerEpoch',
            fields=[
                ('epoch', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=64)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'default_permissions': (),
            },
        ),
    ]

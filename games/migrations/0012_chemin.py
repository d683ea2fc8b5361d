"""Chemin de Fer tables: ``games/sql/0012_chemin.sql``; who may look into how guests play."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

EXAMINE = Duty(
    "games", "playreport", "examine_play", "Can see who loses to whom and decide on reports of how guests play"
)


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those who supervise tables and compliance look into how guests play."""
    for role in ("supervisor", "compliance"):
        grant(apps, schema_editor.connection.alias, role, EXAMINE)


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0011_chat'),
        ('players', '0011_person'),
        ('wallet', '0009_banks'),
    ]

    operations = [
        migrations.AlterField(
            model_name='table',
            name='shape',
            field=models.CharField(choices=[('solo', 'one player, on demand'), ('shared', 'many players, in timed rounds'), ('guests', 'guests against each other')], db_default='solo', default='solo', max_length=6),
        ),
        migrations.CreateModel(
            name='CheminSeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('account_id', models.BigIntegerField()),
                ('session', models.UUIDField(null=True)),
                ('is_random', models.BooleanField(default=False)),
                ('missed', models.PositiveSmallIntegerField(default=0)),
                ('away_since', models.DateTimeField(null=True)),
                ('joined_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('left_at', models.DateTimeField(null=True)),
                ('why_left', models.CharField(blank=True, choices=[('wish', 'left'), ('removed', 'was away for too long'), ('session', 'logged out, or was kept from playing'), ('closed', 'the table was closed'), ('broken_up', 'the table was broken up by staff'), ('alone', 'a house player without a guest to play against')], default='', max_length=10)),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='guests', to='games.livetable')),
                ('player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CheminMove',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveBigIntegerField()),
                ('round_id', models.UUIDField(null=True)),
                ('tenure_id', models.UUIDField(null=True)),
                ('kind', models.CharField(max_length=16)),
                ('amount', models.BigIntegerField(null=True)),
                ('call', models.CharField(blank=True, max_length=24)),
                ('decider', models.CharField(choices=[('guest', 'the guest'), ('croupier', 'the croupier, by the rule, for a guest who did not'), ('house_player', 'a house player'), ('house', 'the house')], max_length=12)),
                ('events', models.JSONField()),
                ('asked_at', models.DateTimeField(null=True)),
                ('at', models.DateTimeField()),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('seat', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CheminCoup',
            fields=[
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='coup', serialize=False, to='games.liveround')),
                ('bank', models.BigIntegerField()),
                ('call', models.CharField(blank=True, max_length=24)),
                ('at_risk', models.BigIntegerField()),
                ('outcome', models.CharField(blank=True, max_length=6)),
                ('punter_total', models.PositiveSmallIntegerField(null=True)),
                ('banker_total', models.PositiveSmallIntegerField(null=True)),
                ('punter_draws', models.BooleanField(null=True)),
                ('banker_draws', models.BooleanField(null=True)),
                ('punter_departs', models.BooleanField(default=False)),
                ('banker_departs', models.BooleanField(default=False)),
                ('tax', models.BigIntegerField(default=0)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('banker_player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('banker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.cheminseat')),
                ('punter', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.cheminseat')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CheminStake',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stake', models.BigIntegerField()),
                ('returned', models.BigIntegerField()),
                ('coup', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='stakes', to='games.chemincoup')),
                ('player', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='players.player')),
                ('seat', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='CheminTenure',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('account_id', models.BigIntegerField()),
                ('put_up', models.BigIntegerField()),
                ('home', models.BigIntegerField(default=0)),
                ('began_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('seat', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
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
                ('sale_id', models.UUIDField(null=True)),
                ('tenure', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='games.chemintenure')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddField(
            model_name='chemincoup',
            name='tenure',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.chemintenure'),
        ),
        migrations.CreateModel(
            name='PlayReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round_id', models.UUIDField(null=True)),
                ('reason', models.CharField(choices=[('chip_dumping', 'loses to somebody on purpose'), ('soft_play', 'spares somebody'), ('signs', 'agrees with somebody during play'), ('other', 'something else')], max_length=12)),
                ('words', models.CharField(blank=True, max_length=500)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finding', models.CharField(blank=True, choices=[('nothing', 'nothing against the guest'), ('watched', 'to be watched'), ('acted', 'acted on')], default='', max_length=8)),
                ('note', models.CharField(blank=True, default='', max_length=500)),
                ('decided_by', models.CharField(blank=True, default='', max_length=40)),
                ('decided_at', models.DateTimeField(null=True)),
                ('live_table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='games.livetable')),
                ('reporter', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='players.player')),
                ('seat', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.cheminseat')),
            ],
            options={
                'permissions': [('examine_play', 'Can see who loses to whom and decide on reports of how guests play')],
                'default_permissions': (),
            },
        ),
        migrations.AddConstraint(
            model_name='cheminseat',
            constraint=models.UniqueConstraint(condition=models.Q(('left_at', None)), fields=('live_table', 'number'), name='games_cheminseat_place'),
        ),
        migrations.AddConstraint(
            model_name='cheminseat',
            constraint=models.UniqueConstraint(condition=models.Q(('left_at', None)), fields=('live_table', 'player'), name='games_cheminseat_guest'),
        ),
        migrations.AddIndex(
            model_name='cheminmove',
            index=models.Index(condition=models.Q(('round_id__isnull', False)), fields=['round_id'], name='games_cheminmove_coup'),
        ),
        migrations.AddConstraint(
            model_name='cheminmove',
            constraint=models.UniqueConstraint(fields=('live_table', 'number'), name='games_cheminmove_number'),
        ),
        migrations.AddConstraint(
            model_name='cheminstake',
            constraint=models.UniqueConstraint(fields=('coup', 'seat'), name='games_cheminstake_once'),
        ),
        migrations.AddIndex(
            model_name='playreport',
            index=models.Index(condition=models.Q(('decided_at', None)), fields=['at'], name='games_playreport_open'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0012_chemin.sql").read_text()),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

"""How bets ended, and alarms about returns; the rest is in ``games/sql/0016_returns.sql``."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from players.roles import Duty, grant

SEE = Duty("games", "evidence", "view_returns", "Can view returns and randomness")
CHOOSE = Duty("games", "stoppolicy", "change_stoppolicy", "Can change stop policy")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let compliance and supervisors see returns, and supervisors say whether an alarm closes tables."""
    grant(apps, schema_editor.connection.alias, "compliance", SEE)
    grant(apps, schema_editor.connection.alias, "supervisor", SEE, CHOOSE)


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0015_tallies'),
    ]

    operations = [
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
            name='Evidence',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'version_id', 'mode', 'bet', 'gain', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('mode', models.CharField(choices=[('R', 'Real'), ('F', 'Free')], max_length=1)),
                ('bet', models.CharField(max_length=20)),
                ('gain', models.CharField(max_length=12)),
                ('rounds', models.BigIntegerField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='games.tableversion')),
            ],
            options={
                'permissions': [('view_returns', 'Can view returns and randomness')],
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
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0016_returns.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]

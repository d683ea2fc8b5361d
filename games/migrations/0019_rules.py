"""Rules of games as they were, and versions of tables that are asked for; the rest is in ``games/sql/0019_rules.sql``."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models.clock
from players.roles import Duty, grant

ASK = Duty("games", "rulesversion", "change_table", "Can ask for tables and for other limits of theirs")
DECIDE = Duty("games", "rulesversion", "decide_table", "Can decide on tables and on other limits of theirs")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let supervisors ask, and supervisors and compliance decide."""
    grant(apps, schema_editor.connection.alias, "supervisor", ASK, DECIDE)
    grant(apps, schema_editor.connection.alias, "compliance", DECIDE)


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0008_significant'),
        ('games', '0018_report_indexes'),
    ]

    operations = [
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
                'permissions': [('change_table', 'Can ask for tables and for other limits of theirs'), ('decide_table', 'Can decide on tables and on other limits of theirs')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['variant', '-id'], name='games_rulesversion_variant')],
            },
        ),
        migrations.CreateModel(
            name='ScheduledVersion',
            fields=[
                ('approval', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='+', serialize=False, to='audit.approval')),
                ('due_at', models.DateTimeField()),
                ('at', models.DateTimeField(db_default=audit.models.clock.Clock())),
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
                ('at', models.DateTimeField(db_default=audit.models.clock.Clock())),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddField(
            model_name='table',
            name='first_opened_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='tableversion',
            name='approval',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='audit.approval'),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0019_rules.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
